package agent_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// sharedCall is one call of the store's side.
type sharedCall struct {
	name string // begin, end, wrote or leaving
	path string
	size int64 // of the file at that moment, -1 without one
}

// fakeShared records its calls. It implements [agent.Shared] and [agent.Departing].
type fakeShared struct {
	fs afero.Fs

	mu    sync.Mutex
	calls []sharedCall // guarded by mu, like all below
	open  int          // turns that have begun and not ended
	busy  error        // what Begin returns
}

func (f *fakeShared) add(name, path string) {
	size := int64(-1)
	if info, err := f.fs.Stat(path); err == nil {
		size = info.Size()
	}
	f.calls = append(f.calls, sharedCall{name, path, size})
}

func (f *fakeShared) Begin(_ context.Context, path string) (end func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy != nil {
		return nil, f.busy
	}
	f.add("begin", path)
	f.open++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.add("end", path)
		f.open--
	}, nil
}

func (f *fakeShared) Wrote(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add("wrote", path)
}

func (f *fakeShared) Leaving(_ context.Context, path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.add("leaving", path)
}

// take returns the calls since the last time, and how many turns are open.
func (f *fakeShared) take() (calls []sharedCall, open int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls, f.calls = f.calls, nil
	return calls, f.open
}

func (f *fakeShared) set(busy error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy = busy
}

func kimWrites() error {
	return fault.New(fault.Busy, "Kim writes in this session on devbox (for 24 s at least).").With("owner", "kim").With("device", "devbox").With("leftMs", 24000)
}

// sharedWorld is a folder whose session has a file and a conversation.
func sharedWorld(t *testing.T, fs afero.Fs, options ...option) (*world, *agent.Session, *fakeShared) {
	t.Helper()
	shared := &fakeShared{fs: fs}
	shell := tool.NewShell(tool.Options{})
	m := scripted(slices.Repeat([]providertest.Reply{{Text: strings.Repeat("words ", 100)}}, 12)...)
	w := newWorld(t, fs, append([]option{withModel(m), func(c *agent.Config) {
		c.Shared, c.Shell = shared, &shell
		c.Compaction = compaction.Settings{KeepRecent: 4}
	}}, options...)...)
	dir := t.TempDir()
	path := put(t, fs, "a", "0123456789abcdef", dir)
	s := w.live(t, dir)
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	return w, s, shared
}

// writers are the operations that append lines to the session of sharedWorld.
var writers = map[string]func(ctx context.Context, s *agent.Session) error{
	"prompt": func(ctx context.Context, s *agent.Session) error {
		_, err := s.Prompt(ctx, agent.Input{Text: "hello"})
		return err
	},
	"compact": func(ctx context.Context, s *agent.Session) error { _, err := s.Compact(ctx, ""); return err },
	"bash": func(ctx context.Context, s *agent.Session) error {
		_, err := s.Bash(ctx, "echo hello", false)
		return err
	},
	"branch": func(ctx context.Context, s *agent.Session) error {
		_, err := s.Branch(ctx, "bbbbbbbb", agent.BranchOptions{})
		return err
	},
	"branch with a summary": func(ctx context.Context, s *agent.Session) error {
		_, err := s.Branch(ctx, "bbbbbbbb", agent.BranchOptions{Summarize: true})
		return err
	},
	"label": func(ctx context.Context, s *agent.Session) error {
		_, err := s.Label(ctx, "aaaaaaaa", "here")
		return err
	},
	"rename":   func(ctx context.Context, s *agent.Session) error { return s.Rename(ctx, "another") },
	"describe": func(ctx context.Context, s *agent.Session) error { _, err := s.Describe(ctx, "about this"); return err },
	"model": func(ctx context.Context, s *agent.Session) error {
		_, err := s.SetModel(ctx, provider.Ref{Provider: "p", ID: "m"}, "")
		return err
	},
	"thinking": func(ctx context.Context, s *agent.Session) error {
		_, err := s.SetThinking(ctx, provider.High)
		return err
	},
	"mode": func(ctx context.Context, s *agent.Session) error {
		_, err := s.SetMode(ctx, agent.PlanMode)
		return err
	},
}

// Each operation begins before its first line, ends after its last one, and reports the change.
func TestWritesOfASharedSessionAreBegunAndEnded(t *testing.T) {
	t.Parallel()
	for name, act := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, shared := sharedWorld(t, afero.NewMemMapFs())
			if name == "compact" {
				prompt(t, s, "something to compact")
			}
			before := int64(len(readFile(t, w.fs, s.File())))
			shared.take()
			require.NoError(t, act(t.Context(), s))
			calls, open := shared.take()
			require.Zero(t, open)
			begun := slices.IndexFunc(calls, func(c sharedCall) bool { return c.name == "begin" })
			require.GreaterOrEqual(t, begun, 0, "%v", calls)
			require.Equal(t, before, calls[begun].size, "nothing was written before")
			after := int64(len(readFile(t, w.fs, s.File())))
			wrote := slices.ContainsFunc(calls[begun:], func(c sharedCall) bool { return c.name == "wrote" && c.size == after })
			require.True(t, wrote, "%v", calls)
			ended := slices.DeleteFunc(calls, func(c sharedCall) bool { return c.name != "end" })
			require.Equal(t, sharedCall{"end", s.File(), after}, ended[len(ended)-1], "nothing was written behind it")
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// While another user writes, each operation fails before anything is written, and works when they are done.
func TestNothingIsWrittenWhileAnotherUserWrites(t *testing.T) {
	t.Parallel()
	for name, act := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, shared := sharedWorld(t, afero.NewMemMapFs())
			if name == "compact" {
				prompt(t, s, "something to compact")
			}
			before, was := readFile(t, w.fs, s.File()), state(t, s)
			shared.set(kimWrites())
			err := act(t.Context(), s)
			f, ok := err.(*fault.Error) //nolint:errorlint // it must not be wrapped
			require.True(t, ok, "%v", err)
			require.Equal(t, fault.Busy, f.Kind)
			require.Equal(t, "devbox", f.Data["device"])
			require.Equal(t, before, readFile(t, w.fs, s.File()))
			require.Equal(t, was, state(t, s))
			shared.set(nil)
			require.NoError(t, act(t.Context(), s))
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// A prompt that another user's turn refuses is not recorded anywhere, so that the client keeps it.
func TestABusyPromptIsNotLost(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	w, s, shared := sharedWorld(t, fs, withJournal(t, fs))
	shared.set(kimWrites())
	accepted := false
	_, err := s.Prompt(t.Context(), agent.Input{Text: "a long thought", Accepted: func() { accepted = true }})
	require.True(t, fault.Is(err, fault.Busy), "%v", err)
	require.False(t, accepted)
	require.Empty(t, kept(t, fs))
	require.False(t, state(t, s).IsStreaming)
	shared.set(nil)
	prompt(t, s, "a long thought")
	require.Contains(t, readFile(t, fs, s.File()), "a long thought")
	require.NoError(t, w.Close(t.Context()))
}

// A rewind and a review append lines, too.
func TestChangesOfASharedSession(t *testing.T) {
	t.Parallel()
	w, s, shared := sharedWorld(t, afero.NewMemMapFs())
	shared.set(kimWrites())
	_, err := s.Rewind(t.Context(), wire.RewindArgs{To: new("aaaaaaaa"), Conversation: true, DryRun: new(false)})
	require.True(t, fault.Is(err, fault.Busy), "%v", err)
	_, err = s.Keep(t.Context(), wire.KeepArgs{})
	require.True(t, fault.Is(err, fault.Busy), "%v", err)
	require.NoError(t, w.Close(t.Context()))
}

// Opening, leaving and closing a session report its file; moving it reports both names.
func TestASharedSessionIsReportedWhenItIsOpenedAndClosed(t *testing.T) {
	t.Parallel()
	w, s, shared := sharedWorld(t, afero.NewMemMapFs())
	path := s.File()
	calls, _ := shared.take()
	require.True(t, slices.ContainsFunc(calls, func(c sharedCall) bool { return c.name == "wrote" && c.path == path }), "%v", calls)
	_, err := s.New(t.Context(), session.NewOptions{})
	require.NoError(t, err)
	calls, _ = shared.take()
	require.True(t, slices.ContainsFunc(calls, func(c sharedCall) bool { return c.name == "wrote" && c.path == path }), "%v", calls)
	_, err = s.Switch(t.Context(), path)
	require.NoError(t, err)
	shared.take()
	require.NoError(t, w.Close(t.Context()))
	calls, open := shared.take()
	require.Zero(t, open)
	require.True(t, slices.ContainsFunc(calls, func(c sharedCall) bool { return c.name == "wrote" && c.path == path }), "%v", calls)
}

// The rest of a session is sent before its file is in the trash.
func TestADeletedSessionIsSentFirst(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(w *world, s *agent.Session) error{
		"live": func(_ *world, s *agent.Session) error { _, err := s.Trash(context.Background()); return err },
		"not live": func(w *world, s *agent.Session) error {
			path := s.File()
			if _, err := s.New(context.Background(), session.NewOptions{}); err != nil {
				return err
			}
			_, err := w.Trash(context.Background(), s.Cwd(), path)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s, shared := sharedWorld(t, afero.NewMemMapFs())
			path := s.File()
			size := int64(len(readFile(t, w.fs, path)))
			shared.take()
			require.NoError(t, act(w, s))
			calls, _ := shared.take()
			require.Contains(t, calls, sharedCall{"leaving", path, size})
			_, err := w.fs.Stat(path)
			require.ErrorIs(t, err, os.ErrNotExist)
			require.NoError(t, w.Close(t.Context()))
		})
	}
}

// Whatever write fails, every turn that began has ended.
func TestEveryFaultEndsTheSharedTurn(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(writers)) {
		if name == "compact" || name == "bash" {
			continue // the one needs a longer conversation, the other a process for each fault
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := 1
			for fired := true; fired; at++ {
				base := afero.NewMemMapFs()
				broken := &st.FaultFs{Fs: base}
				w, s, shared := sharedWorld(t, broken)
				faulty := &st.FaultFs{Fs: base, At: at}
				broken.Fs = faulty
				_ = writers[name](t.Context(), s) // any result will do
				fired = faulty.Fired()
				_, open := shared.take()
				require.Zero(t, open, "fault %d", at)
				_ = w.Close(t.Context())
			}
			require.Greater(t, at, 2)
		})
	}
}

// A turn of another engine begins and ends like one of ours.
func TestAHostedTurnIsShared(t *testing.T) {
	t.Parallel()
	shared := &fakeShared{fs: afero.NewMemMapFs()}
	w, _ := hostedWorld(t, func(c *agent.Config) { c.Shared, shared.fs = shared, c.Finder.Fs })
	s := w.live(t, "/w")
	shared.set(kimWrites())
	_, err := s.Prompt(t.Context(), agent.Input{Text: "hello"})
	require.True(t, fault.Is(err, fault.Busy), "%v", err)
	shared.set(nil)
	say(t, s, "hello")
	calls, open := shared.take()
	require.Zero(t, open)
	names := map[string]bool{}
	for _, c := range calls {
		names[c.name] = true
	}
	require.Equal(t, map[string]bool{"begin": true, "wrote": true, "end": true}, names)
}

// Shared turns leave no goroutine behind, with and without a store. Not parallel: it inspects those of the whole process.
func TestSharedTurnsLeaveNoGoroutine(t *testing.T) {
	end := leaktest.Begin(t)
	for _, shares := range []bool{true, false} {
		w, s, _ := sharedWorld(t, afero.NewMemMapFs(), func(c *agent.Config) {
			if !shares {
				c.Shared = nil
			}
		})
		for _, name := range []string{"prompt", "label", "branch", "rename"} {
			require.NoError(t, writers[name](t.Context(), s))
		}
		require.NoError(t, w.Close(t.Context()))
	}
	end()
}

// Changes by other programs are reported for all session files of a watched directory, live or not.
func TestOtherProgramsFilesAreReported(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	places := library.AgentPlaces(filepath.Join(dir, "agent"))
	sessions := filepath.Join(places.Sessions, "--w--")
	fs := afero.NewOsFs()
	shared := &fakeShared{fs: fs}
	finder := library.Finder{Fs: fs, Roots: []library.Root{library.OwnRoot(places)}, Home: "/h", Temp: "/tmp", Now: time.Now}
	m := agent.NewManager(agent.Config{Storage: agent.Storage{
		Store: session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot}), Finder: finder, Watch: true,
	}, Shared: shared})
	require.NoError(t, os.MkdirAll(places.Sessions, 0o700))
	_, err = m.Session(t.Context(), "/w")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(sessions, 0o700))
	path := filepath.Join(sessions, "2026-01-02T00-00-00-000Z_fedcba9876543210.jsonl")
	content := st.File(st.Header("fedcba9876543210", "/w"), st.User("aaaaaaaa", "", "one"))
	require.Eventually(t, func() bool { // the watch begins on a goroutine of its own
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		require.NoError(t, err)
		_, err = f.WriteString(content)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.NoError(t, os.WriteFile(filepath.Join(sessions, "notes.txt"), nil, 0o600))
		calls, _ := shared.take()
		for _, c := range calls {
			if c.path != path {
				continue
			}
			return assert.Equal(t, "wrote", c.name)
		}
		return false
	}, 20*time.Second, settleForTest)
	require.NoError(t, m.Close(t.Context()))
	calls, _ := shared.take()
	for _, c := range calls {
		require.NotEqual(t, "notes.txt", filepath.Base(c.path))
	}
}

// Events of the store have numbers of their own, and no text of theirs controls a terminal.
func TestEventsOfTheStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs())
	w.ReportTeamState("offline", 3)
	w.ReportTeamWriter("1f9d", "dev\x1b[2Jbox", "kim\nroot")
	w.ReportTeamForked("1f9d", "77aa", "Kim", "2026-11-28T14:02:00Z")
	require.Equal(t, []agent.RunEvent{
		{Seq: 1, Event: event.TeamState{State: "offline", Unsent: 3}},
		{Seq: 2, Event: event.TeamWriter{SID: "1f9d", Device: `dev\u001b[2Jbox`, Owner: `kim\nroot`}},
		{Seq: 3, Event: event.TeamForked{SID: "1f9d", Origin: "77aa", By: "Kim", At: "2026-11-28T14:02:00Z"}},
	}, w.runEvents())
	text := event.TeamForked{By: "Kim", At: "soon"}.Text()
	require.Equal(t, "Kim went on with this conversation. Yours is kept as a fork of it; both are in the list.", text)
}
