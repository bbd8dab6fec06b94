//go:build unix

package commands_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// screen is a person's editor that keeps what it was told to show.
type screen struct {
	commands.Headless
	cannotOpen   bool
	opened, told []string
	reports      []string
	ended        int
}

func (s *screen) OpenURL(_ context.Context, address string) bool {
	s.opened = append(s.opened, address)
	return !s.cannotOpen
}

func (s *screen) Notify(_ context.Context, _ commands.Level, text string) {
	s.told = append(s.told, text)
}

func (s *screen) Progress(_ context.Context, title string) commands.Progress {
	s.reports = append(s.reports, title)
	return s
}

func (s *screen) Report(message string, _ int) { s.reports = append(s.reports, message) }
func (s *screen) End(string)                   { s.ended++ }

// sharing is a machine on which sessions can be shared: bin is all of its PATH but for what
// shell scripts need.
type sharing struct {
	*commands.Env
	t                      *testing.T
	screen                 *screen
	bin, agent, temp, file string
}

func newSharing(t *testing.T, inMemory bool) *sharing {
	t.Helper()
	dir, fs := t.TempDir(), afero.NewOsFs()
	s := &sharing{
		t: t, screen: &screen{}, bin: filepath.Join(dir, "bin"), agent: filepath.Join(dir, "agent"), temp: filepath.Join(dir, "tmp"),
		file: filepath.Join(dir, "agent/sessions/--w--/talk_"+id1+".jsonl"),
	}
	for _, d := range []string{s.bin, s.temp, filepath.Join(dir, "w")} {
		require.NoError(t, os.Mkdir(d, 0o700))
	}
	t.Setenv("PATH", s.bin+":/usr/bin:/bin")
	write(t, fs, s.file, st.Header(id1, dir+"/w"), st.User("aaaaaaaa", "", "use password=abc123def456, and password=abc123def456"))
	finder := session.Finder{Fs: fs, Roots: []session.Root{session.OwnRoot(session.AgentPlaces(s.agent))}, Now: time.Now, Temp: s.temp}
	store := session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot})
	s.Env = &commands.Env{
		Sessions: agent.NewManager(agent.Config{Store: store, Finder: finder, InMemory: inMemory}), Store: store, Finder: finder, Fs: fs,
		UI: s.screen, Folders: func() []string { return []string{dir + "/w"} }, Log: zap.NewNop(),
	}
	return s
}

// program puts a program into dir that runs a shell script.
func (s *sharing) program(dir, name, script string) {
	s.t.Helper()
	fake, err := filepath.Abs("../agent/share/testdata/fake")
	require.NoError(s.t, err)
	require.NoError(s.t, os.Symlink(fake, filepath.Join(dir, name)))
	require.NoError(s.t, os.WriteFile(filepath.Join(dir, name+".sh"), []byte(script), 0o600))
}

// gh puts a gh on the PATH that keeps the page it is given.
func (s *sharing) gh() {
	s.t.Helper()
	s.program(s.bin, "gh", `if [ "$1" = auth ]; then exit 0; fi
cp "$4" "$0.page"
basename "$4" >"$0.name"
echo https://gist.github.com/someone/0123abcd`)
}

func (s *sharing) share(a args) (map[string]any, error) {
	s.t.Helper()
	raw, err := run(s.t.Context(), s.Env, "xcsh.share", a)
	left, readErr := os.ReadDir(s.temp)
	require.NoError(s.t, readErr)
	require.Empty(s.t, left, "nothing is left of the page")
	require.Equal(s.t, len(s.screen.reports) > 0, s.screen.ended > 0)
	if err != nil {
		return nil, err
	}
	var r map[string]any
	require.NoError(s.t, json.Unmarshal(raw, &r))
	return r, nil
}

func (s *sharing) ok(a args) map[string]any {
	s.t.Helper()
	r, err := s.share(a)
	require.NoError(s.t, err)
	return r
}

const gistURL, previewURL = "https://gist.github.com/someone/0123abcd", "https://gistpreview.github.io/?0123abcd"

// A page that leaves the machine has no secrets in it, unless the person wants them there.
func TestShareRedacts(t *testing.T) {
	for name, tc := range map[string]struct {
		a    args
		want map[string]any
		page func(require.TestingT, any, any, ...any)
	}{
		"if nothing is said": {
			args{},
			map[string]any{"message": "Anyone with the link can read this secret gist. 2 secrets were replaced.", "redacted": map[string]any{"named": 2.0}},
			require.NotContains,
		},
		"if that is asked for": {
			args{"redact": true},
			map[string]any{"message": "Anyone with the link can read this secret gist. 2 secrets were replaced.", "redacted": map[string]any{"named": 2.0}},
			require.NotContains,
		},
		"but not if that is refused": {
			args{"redact": false},
			map[string]any{"message": "Anyone with the link can read this secret gist."},
			require.Contains,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSharing(t, false)
			s.gh()
			before := read(t, s.Fs, s.file)
			tc.a["source"] = id1
			tc.want["url"], tc.want["previewUrl"], tc.want["via"] = gistURL, previewURL, "gist"
			require.Equal(t, tc.want, s.ok(tc.a))
			page := read(t, s.Fs, s.bin+"/gh.page")
			require.Contains(t, page, "<!DOCTYPE html>")
			tc.page(t, page, "abc123def456")
			require.Equal(t, "talk_"+id1+".html\n", read(t, s.Fs, s.bin+"/gh.name"))
			require.Equal(t, before, read(t, s.Fs, s.file))
		})
	}
}

// The person sees that something happens, then the page, and what to know of it.
func TestShareIsShown(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	s.ok(args{"source": id1})
	require.Equal(t, []string{"Sharing...", "Creating gist..."}, s.screen.reports)
	require.Equal(t, []string{previewURL}, s.screen.opened)
	require.Equal(t, []string{"Anyone with the link can read this secret gist. 2 secrets were replaced. Shared at " + gistURL}, s.screen.told)
}

func TestShareWithAHandler(t *testing.T) {
	for script, tc := range map[string]struct {
		cannotOpen   bool
		want         map[string]any
		opened, told []string
	}{
		"echo https://example.com/1": {
			want:   map[string]any{"url": "https://example.com/1"},
			opened: []string{"https://example.com/1"}, told: []string{"Shared at https://example.com/1"},
		},
		"echo https://example.com/2": {
			cannotOpen: true, // and so is shown the address
			want:       map[string]any{"url": "https://example.com/2"}, opened: []string{"https://example.com/2"},
		},
		`echo '{"url":"https://example.com/1","message":"Look!"}'`: {
			want:   map[string]any{"url": "https://example.com/1", "message": "Look!"},
			opened: []string{"https://example.com/1"}, told: []string{"Look! Shared at https://example.com/1"},
		},
		`echo 'javascript:alert(1)'`: {want: map[string]any{"url": "javascript:alert(1)"}, told: []string{"Shared at javascript:alert(1)"}},
		`true`:                       {want: map[string]any{"message": "Session shared"}, told: []string{"Session shared"}},
	} {
		t.Run(script, func(t *testing.T) {
			s := newSharing(t, false)
			s.screen.cannotOpen = tc.cannotOpen
			s.program(s.agent, "share", script)
			tc.want["via"] = "custom"
			require.Equal(t, tc.want, s.ok(args{"source": id1, "redact": false}))
			require.Equal(t, tc.opened, s.screen.opened)
			require.Equal(t, tc.told, s.screen.told)
		})
	}
	s := newSharing(t, false)
	s.program(s.agent, "share", "true")
	write(t, s.Fs, s.file, st.Header(id1, "/w"), st.User("aaaaaaaa", "", "password=abc123def456"))
	require.Equal(t, "Session shared. 1 secret was replaced.", s.ok(args{"source": id1})["message"])
}

// Without a file there is nothing to export, and so nothing to share.
func TestShareInMemory(t *testing.T) {
	s := newSharing(t, true)
	s.gh()
	_, err := s.share(args{})
	require.EqualError(t, requireKind(t, fault.NotPersistent, err), "Cannot export in-memory session to HTML")
	require.NoFileExists(t, s.bin+"/gh.page")
	require.Empty(t, s.screen.told)
}

func TestShareOfAnEmptySession(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	require.Equal(t, map[string]any{
		"url": gistURL, "previewUrl": previewURL, "message": "Anyone with the link can read this secret gist.", "via": "gist",
	}, s.ok(args{}))
	require.Contains(t, read(t, s.Fs, s.bin+"/gh.page"), "<!DOCTYPE html>")
}

// Nothing is shared of a session that cannot be exported.
func TestShareFailsWithTheExport(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	_, err := s.share(args{"source": "gone"})
	requireKind(t, fault.NotFound, err)
	write(t, s.Fs, s.file, "junk")
	_, err = s.share(args{"source": s.file})
	requireKind(t, fault.Damaged, err)
	require.NoFileExists(t, s.bin+"/gh.page")
	require.Empty(t, s.screen.opened)
}

// What went wrong with a handler ends it: there is no gist, and nothing is shown.
func TestShareFailsWithTheHandler(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	s.program(s.agent, "share", "echo no bucket >&2; exit 1")
	_, err := s.share(args{"source": id1})
	require.EqualError(t, requireKind(t, fault.IO, err), s.agent+"/share failed: no bucket; without that file the session is shared as a gist.")
	require.NoFileExists(t, s.bin+"/gh.page")
	require.Empty(t, append(s.screen.opened, s.screen.told...))
}

// A share or an export that was cancelled leaves nothing.
func TestCancelledShare(t *testing.T) {
	s := newSharing(t, false)
	s.gh()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := run(ctx, s.Env, "xcsh.share", args{"source": s.file})
	require.EqualError(t, requireKind(t, fault.Cancelled, err), "Share cancelled")
	_, err = run(ctx, s.Env, "xcsh.export", args{"source": s.file})
	require.EqualError(t, requireKind(t, fault.Cancelled, err), "The export was cancelled.")
	for _, dir := range []string{s.temp, s.Folders()[0]} {
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
