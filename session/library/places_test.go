package library_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// environment is an Env on system with the given variables and existing directories.
func environment(system string, vars map[string]string, existing ...string) library.Env {
	return library.Env{
		Home: "/home/zed", Temp: "/tmp", Cwd: "/work", OS: system,
		Getenv: func(name string) string { return vars[name] },
		Exists: func(path string) bool { return slices.Contains(existing, path) },
	}
}

// Proves: X-001, X-011 (the place)
func TestDefaultPlaces(t *testing.T) {
	t.Parallel()
	standard := library.AgentPlaces("/home/zed/.xcsh/agent")
	require.Equal(t, library.Places{
		AgentDir: "/home/zed/.xcsh/agent", Sessions: "/home/zed/.xcsh/agent/sessions", Blobs: "/home/zed/.xcsh/agent/blobs",
		Terminals: "/home/zed/.xcsh/agent/terminal-sessions", History: "/home/zed/.xcsh/agent/history.db",
	}, standard)
	moved := standard
	moved.Sessions, moved.Blobs, moved.History = "/data/xcsh/sessions", "/data/xcsh/blobs", "/data/xcsh/history.db"
	state := standard
	state.Terminals = "/state/xcsh/terminal-sessions"
	xdg := map[string]string{"XDG_DATA_HOME": "/data", "XDG_STATE_HOME": "/state"}
	with := func(key, value string) map[string]string {
		return map[string]string{"XDG_DATA_HOME": "/data", "XDG_STATE_HOME": "/state", key: value}
	}
	for _, c := range []struct {
		name string
		env  library.Env
		want library.Places
	}{
		{"nothing set means the agent directory below ~/.xcsh", environment("linux", nil), standard},
		{"PI_CONFIG_DIR renames the directory below home", environment("linux", map[string]string{"PI_CONFIG_DIR": ".alt"}), library.AgentPlaces("/home/zed/.alt/agent")},
		{"PI_CODING_AGENT_DIR replaces it", environment("linux", map[string]string{"PI_CODING_AGENT_DIR": "/elsewhere/"}), library.AgentPlaces("/elsewhere")},
		{"a relative PI_CODING_AGENT_DIR is made absolute", environment("linux", map[string]string{"PI_CODING_AGENT_DIR": "agents/a"}), library.AgentPlaces("/work/agents/a")},
		{"a tilde in PI_CODING_AGENT_DIR is the home directory", environment("linux", map[string]string{"PI_CODING_AGENT_DIR": "~/a"}), library.AgentPlaces("/home/zed/a")},
		{"PI_CODING_AGENT_DIR may name the default", environment("linux", map[string]string{"PI_CODING_AGENT_DIR": "/home/zed/.xcsh/agent"}), standard},
		{"XDG counts only when the directory exists", environment("linux", xdg), standard},
		{"XDG data moves sessions, blobs and history", environment("linux", xdg, "/data/xcsh"), moved},
		{"XDG state moves breadcrumbs", environment("darwin", xdg, "/state/xcsh"), state},
		{"XDG is for Linux and macOS", environment("windows", xdg, "/data/xcsh", "/state/xcsh"), standard},
		{"XDG does not touch an agent directory that was named", environment("linux", with("PI_CODING_AGENT_DIR", "/elsewhere"), "/data/xcsh"), library.AgentPlaces("/elsewhere")},
		{"XDG does not touch a relative base", environment("linux", with("XDG_DATA_HOME", "data"), "data/xcsh"), standard},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := library.DefaultPlaces(c.env)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestDefaultPlacesWithoutHome(t *testing.T) {
	t.Parallel()
	_, err := library.DefaultPlaces(library.Env{})
	require.Equal(t, fault.InvalidArgument, fault.KindOf(err))
	env := environment("linux", map[string]string{"PI_CODING_AGENT_DIR": "/a"})
	env.Home = ""
	got, err := library.DefaultPlaces(env)
	require.NoError(t, err)
	require.Equal(t, library.AgentPlaces("/a"), got)
}

func TestPeerPlaces(t *testing.T) {
	t.Parallel()
	pi := library.Root{Places: library.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi}
	omp := library.Root{Places: library.AgentPlaces("/home/zed/.omp/agent"), Dialect: session.Omp}
	shared := map[string]string{"PI_CODING_AGENT_DIR": "/shared", "XDG_DATA_HOME": "/data"}
	redirected := omp
	redirected.Sessions, redirected.Blobs, redirected.History = "/data/omp/sessions", "/data/omp/blobs", "/data/omp/history.db"
	for _, c := range []struct {
		name string
		env  library.Env
		want []library.Root
	}{
		{"none exists", environment("linux", nil), nil},
		{"both exist", environment("linux", nil, pi.AgentDir, omp.AgentDir), []library.Root{pi, omp}},
		{"the shared variable is ours and says nothing about theirs", environment("linux", shared, "/shared", pi.AgentDir), []library.Root{pi}},
		{"omp follows XDG as we do", environment("linux", shared, "/data/omp", "/data/omp/sessions"), []library.Root{redirected}},
		{"a peer's directory that is ours is not listed twice", environment("linux", map[string]string{"PI_CONFIG_DIR": ".omp"}, pi.AgentDir, omp.AgentDir), []library.Root{pi}},
		{"nobody is home", library.Env{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, library.PeerPlaces(c.env))
		})
	}
}

// TestListingsFollowTheEnvironment covers both listings with every way to move the store.
// Proves: X-014
func TestListingsFollowTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		env      library.Env
		sessions string
	}{
		{"default", environment("linux", nil), "/home/zed/.xcsh/agent/sessions"},
		{"agent directory", environment("linux", map[string]string{"PI_CODING_AGENT_DIR": "/agents/mine"}), "/agents/mine/sessions"},
		{"XDG", environment("linux", map[string]string{"XDG_DATA_HOME": "/data"}, "/data/xcsh"), "/data/xcsh/sessions"},
		{"XDG in macOS", environment("darwin", map[string]string{"XDG_DATA_HOME": "/data"}, "/data/xcsh"), "/data/xcsh/sessions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			places, err := library.DefaultPlaces(c.env)
			require.NoError(t, err)
			fs := afero.NewMemMapFs()
			require.Equal(t, filepath.FromSlash(c.sessions), places.Sessions)
			file := filepath.Join(places.Sessions, "--opt-x--", "a.jsonl")
			kit.PutSession(t, fs, file, kit.Chat("a1", "/opt/x", "hello"), 0)
			f := kit.NewFinder(fs)
			f.Roots = []library.Root{library.OwnRoot(places)}
			require.Equal(t, []string{file}, kit.Listed(t, f, "/opt/x"))
			require.Equal(t, []string{file}, kit.ListedAll(t, f))
		})
	}
}

func TestFileRoot(t *testing.T) {
	t.Parallel()
	f := kit.NewFinder(afero.NewMemMapFs())
	peer := library.Root{Places: library.AgentPlaces("/home/zed/.pi/agent"), Dialect: session.Pi}
	f.Roots = append(f.Roots, peer)
	own, ok := f.FileRoot(kit.SessionsRoot + "/-a/x.jsonl")
	require.True(t, ok)
	require.Equal(t, session.FileRoot{Dialect: session.Xcsh, Blobs: "/home/zed/.xcsh/agent/blobs"}, own)
	theirs, ok := f.FileRoot("/home/zed/.pi/agent/sessions/--a--/x.jsonl")
	require.True(t, ok)
	require.Equal(t, session.FileRoot{Dialect: session.Pi, Blobs: peer.Blobs}, theirs)
	_, ok = f.FileRoot("/elsewhere/x.jsonl")
	require.False(t, ok)
	f.SessionDir = "/elsewhere"
	forced, ok := f.FileRoot("/elsewhere/x.jsonl")
	require.True(t, ok)
	require.Equal(t, own, forced, "an explicit session directory keeps its images where ours are")
}
