package agent_test

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const thereV = root + "/sessions/--v--/a.jsonl"

// readFile returns the content of a file.
func readFile(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	b, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	return string(b)
}

// folders makes working directories.
func folders(t *testing.T, fs afero.Fs, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		require.NoError(t, fs.MkdirAll(dir, 0o700))
	}
}

// lists returns the directories whose lists of sessions changed.
func (w *world) lists() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var cwds []string
	for _, e := range w.events {
		if c, ok := e.(agent.SessionsChanged); ok {
			cwds = append(cwds, c.Cwd)
		}
	}
	return cwds
}

// resumed is a world whose folder /w is in the session a, at its second entry.
func resumed(t *testing.T, fs afero.Fs, options ...option) (*world, *agent.Session, string) {
	t.Helper()
	folders(t, fs, "/w", "/v")
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	require.NoError(t, fs.MkdirAll(strings.TrimSuffix(path, ".jsonl"), 0o700))
	require.NoError(t, afero.WriteFile(fs, strings.TrimSuffix(path, ".jsonl")+"/0.bash.log", []byte("output"), 0o600))
	w := newWorld(t, fs, options...)
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Branch(t.Context(), "bbbbbbbb", agent.BranchOptions{})
	require.NoError(t, err)
	return w, s, path
}

// Proves: X-167
func TestMoveToTakesTheLiveSessionAlong(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		w, s, path := resumed(t, fs, func(c *agent.Config) { c.TerminalID = "t1" })
		was, events := readFile(t, fs, path), len(w.changes())
		got, err := s.MoveTo(t.Context(), "/v/")
		require.NoError(t, err)
		require.Equal(t, "/v", got.Cwd)
		require.Equal(t, thereV, filepath.ToSlash(*got.File))
		require.Equal(t, "0123456789abcdef", got.SessionID)
		require.Equal(t, "bbbbbbbb", *got.LeafID, "its leaf comes along")
		require.Equal(t, got, state(t, w.live(t, "/v")))
		require.Equal(t, strings.Replace(was, `"cwd":"/w"`, `"cwd":"/v"`, 1), readFile(t, fs, thereV))
		require.Equal(t, "output", readFile(t, fs, strings.TrimSuffix(thereV, ".jsonl")+"/0.bash.log"))
		_, err = fs.Stat(path)
		require.Error(t, err)

		fresh := state(t, s)
		require.NotEqual(t, "0123456789abcdef", fresh.SessionID)
		require.Nil(t, fresh.LeafID)
		require.Equal(t, "/v\n"+*got.File+"\n", readFile(t, fs, root+"/terminal-sessions/t1"))
		require.Equal(t, []string{"/w", "/v"}, w.lists())
		changes := w.changes()[events:]
		require.Len(t, changes, 2)
		require.Equal(t, agent.ReasonNew, changes[0].Reason)
		require.Equal(t, "/w", changes[0].Cwd)
		require.Equal(t, agent.ReasonResume, changes[1].Reason)
		require.Equal(t, "/v", changes[1].Cwd)
		require.Equal(t, "0123456789abcdef", changes[1].SessionID)

		back, err := w.live(t, "/v").MoveTo(t.Context(), "/w")
		require.NoError(t, err)
		require.Equal(t, path, filepath.ToSlash(*back.File))
		require.Equal(t, was, readFile(t, fs, path))
	})
}

func TestHooksOfBothFoldersMayRefuseAMove(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"/w", "/v"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			h := &refusing{}
			w, s, path := resumed(t, fs, func(c *agent.Config) { c.Hooks = []hook.Hook{h} })
			before, was, events := state(t, s), readFile(t, fs, path), len(w.changes())
			h.refuse(folder)
			_, err := s.MoveTo(t.Context(), "/v")
			require.Equal(t, fault.Cancelled, fault.KindOf(err))
			require.Equal(t, before, state(t, s))
			require.Equal(t, was, readFile(t, fs, path))
			require.Len(t, w.changes(), events)
			require.Empty(t, w.lists())
			if folder == "/w" {
				_, err = s.Trash(t.Context())
				require.Equal(t, fault.Cancelled, fault.KindOf(err))
				require.Equal(t, before, state(t, s))
				require.Equal(t, was, readFile(t, fs, path))
			}
		})
	}
}

// refusing is a hook that refuses changes in one folder.
type refusing struct {
	mu  sync.Mutex
	cwd string // guarded by mu
}

func (r *refusing) refuse(cwd string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cwd = cwd
}

func (r *refusing) Before(_ context.Context, e hook.Event) (hook.Decision, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return hook.Decision{Cancel: e.Cwd == r.cwd}, nil
}

func (*refusing) After(context.Context, hook.Event) {}

// TestEveryFaultOfAMoveOrDeletionLeavesTheSessionLive fails each step. After an error the session
// is live, at its leaf, and its file is unchanged.
func TestEveryFaultOfAMoveOrDeletionLeavesTheSessionLive(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(ctx context.Context, s *agent.Session) error{
		"move":   func(ctx context.Context, s *agent.Session) error { _, err := s.MoveTo(ctx, "/v"); return err },
		"delete": func(ctx context.Context, s *agent.Session) error { _, err := s.Trash(ctx); return err },
	} {
		for _, mode := range []st.Mode{st.Once, st.Short} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				at := 1
				for ; staysLive(t, act, at, mode); at++ {
				}
				require.Greater(t, at, 5)
			})
		}
	}
}

func staysLive(t *testing.T, act func(context.Context, *agent.Session) error, at int, mode st.Mode) bool {
	t.Helper()
	base := afero.NewMemMapFs()
	broken := &st.FaultFs{Fs: base}
	w, s, path := resumed(t, broken)
	before, was, events := state(t, s), readFile(t, base, path), len(w.changes())
	faulty := &st.FaultFs{Fs: base, At: at, Mode: mode}
	broken.Fs = faulty
	err := act(t.Context(), s)
	if err == nil {
		require.NotEqual(t, before.SessionID, state(t, s).SessionID)
		return faulty.Fired()
	}
	now := state(t, s)
	now.Unsaved = "" // the mark of the leaf may not be synced
	require.Equal(t, before, now, "fault %d", at)
	require.Equal(t, was, readFile(t, base, path), "fault %d", at)
	require.Equal(t, "output", readFile(t, base, strings.TrimSuffix(path, ".jsonl")+"/0.bash.log"), "fault %d", at)
	require.Len(t, w.changes(), events)
	_, err = s.Label(t.Context(), "aaaaaaaa", "still writable")
	require.NoError(t, err, "fault %d", at)
	require.Contains(t, readFile(t, base, path), `"parentId":"bbbbbbbb"`)
	return true
}

func TestRefusedMovesAndDeletions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	folders(t, fs, "/w", "/v")
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	for dir, want := range map[string]string{"/v": "no file yet", "/none": "Directory not found: /none", "v": "Directory not found: v"} {
		before := state(t, s)
		_, err := s.MoveTo(t.Context(), dir)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		require.ErrorContains(t, err, want)
		require.Equal(t, before, state(t, s), "a session without messages has no file")
	}
	_, err := s.Trash(t.Context())
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Nil(t, w.Live("/none"), "no folder is opened that does not exist")

	memory := newWorld(t, fs, func(c *agent.Config) { c.InMemory = true })
	_, err = memory.live(t, "/w").MoveTo(t.Context(), "/v")
	require.Equal(t, fault.NotPersistent, fault.KindOf(err))
	_, err = memory.live(t, "/w").Trash(t.Context())
	require.Equal(t, fault.NotPersistent, fault.KindOf(err))
}

func TestASessionOfAnotherProjectIsFiledHere(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	folders(t, fs, "/w")
	path := put(t, fs, "a", "0123456789abcdef", "/gone")
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Branch(t.Context(), "bbbbbbbb", agent.BranchOptions{})
	require.NoError(t, err)
	before := state(t, s)
	for range 2 { // the second time there is nothing to do
		got, err := s.MoveTo(t.Context(), "/w")
		require.NoError(t, err)
		require.Equal(t, before, got)
		require.Contains(t, readFile(t, fs, path), `"cwd":"/w"`)
		require.Equal(t, []string{"/w", "/gone"}, w.lists())
	}
}

func TestDeletingTheLiveSessionGivesTheFolderANewOne(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		w, s, path := resumed(t, fs)
		was := readFile(t, fs, path)
		trashed, err := s.Trash(t.Context())
		require.NoError(t, err)
		require.NotEqual(t, "0123456789abcdef", state(t, s).SessionID)
		_, err = fs.Stat(path)
		require.Error(t, err)
		require.Equal(t, []string{"/w"}, w.lists())
		back, err := w.Untrash(trashed)
		require.NoError(t, err)
		require.Equal(t, path, back)
		require.Equal(t, was, readFile(t, fs, path))
		require.Equal(t, []string{"/w", "/w"}, w.lists())
	})
}

func TestSessionsThatAreNotLiveAreMovedAndDeleted(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	folders(t, fs, "/w", "/v")
	a, b := put(t, fs, "a", "0123456789abcdef", "/w"), put(t, fs, "b", "fedcba9876543210", "/w")
	w := newWorld(t, fs)
	got, err := w.Relocate(t.Context(), "/w", a, "/v/")
	require.NoError(t, err)
	require.Equal(t, thereV, filepath.ToSlash(*got.File))
	require.Equal(t, "/v", got.Cwd)
	require.Nil(t, w.Live("/v"), "nothing became live")
	_, err = w.Trash(t.Context(), "/w", b)
	require.NoError(t, err)
	require.Equal(t, []string{"/w", "/v", "/w"}, w.lists())

	_, err = w.live(t, "/v").Switch(t.Context(), *got.File)
	require.NoError(t, err)
	_, err = w.Trash(t.Context(), "/w", *got.File)
	require.Equal(t, fault.Busy, fault.KindOf(err))
	_, err = w.Relocate(t.Context(), "/w", *got.File, "/w")
	require.Equal(t, fault.Busy, fault.KindOf(err))
	_, err = w.Relocate(t.Context(), "/v", *got.File, "/w")
	require.NoError(t, err, "the folder's own live session is moved as such")
	require.Equal(t, "0123456789abcdef", state(t, w.live(t, "/w")).SessionID)
}

func TestTwoFoldersSwapTheirSessions(t *testing.T) {
	t.Parallel()
	fs := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	folders(t, fs, "/w", "/v")
	w := newWorld(t, fs)
	for cwd, id := range map[string]string{"/w": "0123456789abcdef", "/v": "fedcba9876543210"} {
		_, err := w.live(t, cwd).Switch(t.Context(), put(t, fs, id, id, cwd))
		require.NoError(t, err)
	}
	var group sync.WaitGroup
	for from, to := range map[string]string{"/w": "/v", "/v": "/w"} {
		group.Go(func() { _, _ = w.live(t, from).MoveTo(context.WithoutCancel(t.Context()), to) })
	}
	group.Wait()
	infos, problems, err := newFinderOf(fs).ListAll(t.Context(), library.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, problems)
	require.Len(t, infos, 2, "nothing was lost and nothing doubled")
}

func newFinderOf(fs afero.Fs) library.Finder {
	f := library.Finder{Fs: fs, Roots: []library.Root{library.OwnRoot(library.AgentPlaces(root))}, Home: "/home/u", Temp: "/tmp"}
	f.Now = clock
	return f
}

func clock() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC) }
