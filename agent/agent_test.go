package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const root = "/home/u/.xcsh/agent"

// world is a manager over memory, with all its events.
type world struct {
	*agent.Manager
	fs afero.Fs

	mu     sync.Mutex
	events []agent.Event // guarded by mu
}

type option func(*agent.Config)

func newWorld(t *testing.T, fs afero.Fs, options ...option) *world {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC) }
	finder := library.Finder{
		Fs: fs, Roots: []library.Root{library.OwnRoot(library.AgentPlaces(root))}, Home: "/home/u", Temp: "/tmp", Now: now,
	}
	cfg := agent.Config{
		Storage: agent.Storage{
			Store: session.NewStore(session.StoreConfig{
				Fs: fs, Now: now, Random: rand.New(rand.NewSource(1)), DirFor: finder.DirFor, RootFor: finder.FileRoot,
			}),
			Finder: finder,
		},
		Log: zaptest.NewLogger(t),
	}
	for _, o := range options {
		o(&cfg)
	}
	w := &world{Manager: agent.NewManager(cfg), fs: fs}
	w.Subscribe(func(e agent.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, e)
	})
	return w
}

// changes returns the sessionChanged events so far, without those of folders that were
// just opened.
func (w *world) changes() []agent.SessionChanged {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []agent.SessionChanged
	for _, e := range w.events {
		if c, ok := e.(agent.SessionChanged); ok && c.Reason != agent.ReasonStart {
			out = append(out, c)
		}
	}
	return out
}

func (w *world) live(t *testing.T, cwd string) *agent.Session {
	t.Helper()
	s, err := w.Session(t.Context(), cwd)
	require.NoError(t, err)
	return s
}

// put writes a file with a conversation of cwd and returns its path.
func put(t *testing.T, fs afero.Fs, name, id, cwd string) string {
	t.Helper()
	path := filepath.Join(root, "sessions/--w--", name+".jsonl")
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(
		st.Header(id, cwd), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"), st.User("cccccccc", "bbbbbbbb", "three"),
	)), 0o600))
	return path
}

func state(t *testing.T, s *agent.Session) agent.State {
	t.Helper()
	state, err := s.State()
	require.NoError(t, err)
	return state
}

func TestAFolderBeginsWithANewSessionWithoutAFile(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	w := newWorld(t, fs)
	s := w.live(t, "/w/")
	require.Same(t, s, w.live(t, "/w"), "one session per cleaned directory")
	got := state(t, s)
	require.Equal(t, "/w", got.Cwd)
	require.NotNil(t, got.File)
	require.Nil(t, got.LeafID)
	require.Equal(t, "off", got.ThinkingLevel)
	require.Equal(t, "none", got.Mode)
	empty, err := afero.IsEmpty(fs, "/")
	require.NoError(t, err)
	require.True(t, empty, "reading writes nothing")
}

func TestOpeningAFolderIsPublished(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs())
	s := w.live(t, "/w")
	w.live(t, "/w")
	require.Equal(t, []agent.Event{agent.SessionChanged{Cwd: "/w", SessionID: state(t, s).SessionID, Seq: 1, Reason: agent.ReasonStart}}, w.events)
}

// Proves
func TestSwitchShowsTheOtherSession(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	before, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	w := newWorld(t, fs, func(c *agent.Config) { c.TerminalID = "t1" })
	s := w.live(t, "/w")
	first := state(t, s)

	out, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	require.True(t, out.Changed)
	got := state(t, s)
	require.Equal(t, "0123456789abcdef", got.SessionID)
	require.Equal(t, path, *got.File)
	require.Equal(t, "cccccccc", *got.LeafID)
	require.Equal(t, 3, got.MessageCount)
	require.Equal(t, &agent.Model{Provider: "offline", ID: "demo"}, got.Model)
	require.InDelta(t, 2, got.Usage.TotalTokens, 0)

	after, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, []agent.SessionChanged{{
		Cwd: "/w", SessionID: "0123456789abcdef", Seq: 1, Reason: agent.ReasonResume, PreviousSessionFile: *first.File,
	}}, w.changes())
	crumb, err := afero.ReadFile(fs, root+"/terminal-sessions/t1")
	require.NoError(t, err)
	require.Equal(t, "/w\n"+path+"\n", string(crumb))
	cwd, live := w.LiveIn(path)
	require.True(t, live)
	require.Equal(t, "/w", cwd)
}

// Proves: X-213, P-001
func TestTwoFoldersHoldTwoSessions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	a, b := put(t, fs, "a", "0123456789abcdef", "/w"), put(t, fs, "b", "fedcba9876543210", "/v")
	w := newWorld(t, fs)
	_, err := w.live(t, "/w").Switch(t.Context(), a)
	require.NoError(t, err)
	_, err = w.live(t, "/v").Switch(t.Context(), b)
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", state(t, w.live(t, "/w")).SessionID)
	require.Equal(t, "fedcba9876543210", state(t, w.live(t, "/v")).SessionID)

	_, err = w.live(t, "/v").Switch(t.Context(), a)
	require.Equal(t, fault.Busy, fault.KindOf(err), "one file is not written by two sessions")
	require.Equal(t, "fedcba9876543210", state(t, w.live(t, "/v")).SessionID)

	require.NoError(t, w.CloseFolder(t.Context(), "/w"))
	require.Nil(t, w.Live("/w"))
	_, err = w.live(t, "/v").Switch(t.Context(), a)
	require.NoError(t, err)
}

// veto cancels events by name and records all of them.
type veto struct {
	cancel hook.Name
	fail   error

	mu   sync.Mutex
	seen []hook.Event // guarded by mu
}

func (v *veto) Before(_ context.Context, e hook.Event) (hook.Decision, error) {
	v.After(context.Background(), e)
	return hook.Decision{Cancel: e.Name == v.cancel}, v.fail
}

func (v *veto) After(_ context.Context, e hook.Event) {
	if e.Name == hook.Start {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen = append(v.seen, e)
}

func (v *veto) names() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var names []string
	for _, e := range v.seen {
		names = append(names, string(e.Name)+" "+e.Reason)
	}
	return names
}

// Proves, O-035, O-053, O-062, P-022
func TestHooksRunBeforeAndAfter(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	h := &veto{}
	w := newWorld(t, fs, func(c *agent.Config) { c.Hooks = []hook.Hook{h} })
	s := w.live(t, "/w")
	first := *state(t, s).File
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.New(t.Context(), session.NewOptions{})
	require.NoError(t, err)
	_, err = s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Fork(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{
		"session_before_switch resume", "session_switch resume", "session_before_switch new", "session_switch new",
		"session_before_switch resume", "session_switch resume", "session_before_switch fork", "session_switch fork",
	}, h.names())
	require.Equal(t, path, h.seen[0].TargetSessionFile)
	require.Equal(t, first, h.seen[1].PreviousSessionFile)
}

// Proves, O-032, P-023
func TestAVetoChangesNothing(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	w := newWorld(t, fs, func(c *agent.Config) { c.Hooks = []hook.Hook{&veto{cancel: hook.BeforeSwitch}} })
	s := w.live(t, "/w")
	before := state(t, s)
	for _, change := range []func() (agent.Outcome, error){
		func() (agent.Outcome, error) { return s.Switch(t.Context(), path) },
		func() (agent.Outcome, error) { return s.New(t.Context(), session.NewOptions{}) },
		func() (agent.Outcome, error) { return s.Fork(t.Context()) },
	} {
		out, err := change()
		require.NoError(t, err)
		require.Equal(t, agent.Outcome{CancelledBy: "hook"}, out)
		require.Equal(t, before, state(t, s))
	}
	require.Empty(t, w.changes())
}

type panicking struct{}

func (panicking) Before(context.Context, hook.Event) (hook.Decision, error) { panic("before") }
func (panicking) After(context.Context, hook.Event)                         { panic("after") }

// Proves: O-064
func TestAFailingHookDoesNotCancel(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	second := &veto{}
	w := newWorld(t, fs, func(c *agent.Config) {
		c.Hooks = []hook.Hook{panicking{}, &veto{cancel: hook.BeforeSwitch, fail: errors.New("broken")}, second}
	})
	out, err := w.live(t, "/w").Switch(t.Context(), path)
	require.NoError(t, err)
	require.True(t, out.Changed)
	require.Len(t, second.names(), 2)
}

// Proves, O-060
func TestAFailedSwitchLeavesThePreviousSessionWithItsLeaf(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	damaged := filepath.Join(root, "sessions/--w--/damaged.jsonl")
	require.NoError(t, afero.WriteFile(fs, damaged, []byte("{torn"), 0o600))
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Branch(t.Context(), "bbbbbbbb", agent.BranchOptions{})
	require.NoError(t, err)
	before, events := state(t, s), len(w.changes())
	require.Equal(t, "bbbbbbbb", *before.LeafID)

	_, err = s.Switch(t.Context(), damaged)
	require.Equal(t, fault.Damaged, fault.KindOf(err))
	_, err = s.Switch(t.Context(), "/nowhere.jsonl")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
	require.Equal(t, before, state(t, s))
	require.Len(t, w.changes(), events)
	content, err := afero.ReadFile(fs, damaged)
	require.NoError(t, err)
	require.Equal(t, "{torn", string(content))
}

// Proves: X-212
func TestSwitchingToTheSameFileReadsItAgain(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	require.NoError(t, afero.WriteFile(fs, path, []byte(string(content)+st.User("dddddddd", "cccccccc", "four")+"\n"), 0o600))
	_, err = s.Switch(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, 4, state(t, s).MessageCount)
}

func TestBranchGoesBackBeforeAPrompt(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	before, err := afero.ReadFile(fs, path)
	require.NoError(t, err)

	text, err := s.Branch(t.Context(), "cccccccc", agent.BranchOptions{})
	require.NoError(t, err)
	require.Equal(t, "three", text)
	require.Equal(t, "bbbbbbbb", *state(t, s).LeafID)
	text, err = s.Branch(t.Context(), "aaaaaaaa", agent.BranchOptions{})
	require.NoError(t, err)
	require.Equal(t, "one", text)
	require.Nil(t, state(t, s).LeafID)
	_, err = s.Branch(t.Context(), "zzz", agent.BranchOptions{})
	require.EqualError(t, err, "Entry zzz not found")
	after, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	added, ok := strings.CutPrefix(string(after), string(before))
	require.True(t, ok)
	require.Equal(t, 2, strings.Count(added, `"customType":"xcsh-ls.branch"`), "each place is marked once")
	require.Equal(t, 2, strings.Count(added, "\n"))

	_, err = s.Branch(t.Context(), "bbbbbbbb", agent.BranchOptions{Summary: "went another way"})
	require.NoError(t, err)
	after, err = afero.ReadFile(fs, path)
	require.NoError(t, err)
	require.Contains(t, string(after), `"parentId":"bbbbbbbb","timestamp":"2026-02-03T04:05:06.000Z","fromId":"bbbbbbbb","summary":"went another way"`)
	seqs := []uint64{}
	for _, c := range w.changes() {
		seqs = append(seqs, c.Seq)
	}
	require.Equal(t, []uint64{1, 2, 3, 4}, seqs)
}

// Proves: O-004
func TestForkContinuesInTheCopy(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	w := newWorld(t, fs, func(c *agent.Config) { c.TerminalID = "t1" })
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Fork(t.Context())
	require.NoError(t, err)
	got := state(t, s)
	require.Equal(t, "0123456789abcdef", got.ParentSession)
	require.NotEqual(t, path, *got.File)
	require.Equal(t, 3, got.MessageCount)
	crumb, err := afero.ReadFile(fs, root+"/terminal-sessions/t1")
	require.NoError(t, err)
	require.Equal(t, "/w\n"+*got.File+"\n", string(crumb), "--continue follows the fork")

	text, out, err := s.ForkAt(t.Context(), "cccccccc", session.Before)
	require.NoError(t, err)
	require.True(t, out.Changed)
	require.Equal(t, "three", text)
	require.Equal(t, 2, state(t, s).MessageCount)

	_, err = s.ForkFrom(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, 3, state(t, s).MessageCount)
}

// Proves, F-33, AB-019, AB-020, AB-023
func TestContinue(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		older, newer := put(t, fs, "a", "0123456789abcdef", "/w"), put(t, fs, "b", "fedcba9876543210", "/w")
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		require.NoError(t, fs.Chtimes(older, at, at))
		require.NoError(t, fs.Chtimes(newer, at.Add(time.Hour), at.Add(time.Hour)))

		w := newWorld(t, fs)
		s := w.live(t, "/w")
		_, err := s.Continue(t.Context())
		require.NoError(t, err)
		require.Equal(t, newer, *state(t, s).File, "the newest without a breadcrumb")

		require.NoError(t, library.WriteBreadcrumb(fs, root+"/terminal-sessions", "t1", "/w", older))
		w = newWorld(t, fs, func(c *agent.Config) { c.TerminalID = "t1" })
		s = w.live(t, "/w")
		_, err = s.Continue(t.Context())
		require.NoError(t, err)
		require.Equal(t, older, *state(t, s).File, "the breadcrumb before the newest")

		s = w.live(t, "/other")
		_, err = s.Continue(t.Context())
		require.NoError(t, err)
		_, err = fs.Stat(*state(t, s).File)
		require.Error(t, err, "a new session for a folder without one")
	})
}

// Proves: X-099
func TestInMemorySessionsHaveNoFile(t *testing.T) {
	t.Parallel()
	fs := afero.NewReadOnlyFs(afero.NewMemMapFs())
	w := newWorld(t, fs, func(c *agent.Config) { c.InMemory = true })
	s := w.live(t, "/w")
	require.Nil(t, state(t, s).File)
	_, err := s.Fork(t.Context())
	require.EqualError(t, err, "Fork failed (session not persisted or cancelled)")
	_, err = s.Continue(t.Context())
	require.NoError(t, err)
	_, err = s.New(t.Context(), session.NewOptions{Title: "T"})
	require.NoError(t, err)
	require.Equal(t, "T", state(t, s).Title)
}

// Proves: X-197
func TestCloseEndsEverythingAndSavesIt(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	w := newWorld(t, fs)
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Label(t.Context(), "aaaaaaaa", "L")
	require.NoError(t, err)
	require.NoError(t, w.Close(t.Context()))
	content, err := afero.ReadFile(fs, path)
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(string(content), `"targetId":"aaaaaaaa","label":"L"}`+"\n"))
	_, err = w.Session(t.Context(), "/w")
	require.Error(t, err)
	changes := w.changes()
	require.Equal(t, agent.ReasonShutdown, changes[len(changes)-1].Reason)
}

func TestAnOperationThatWaitsCanBeCancelled(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	entered, leave := make(chan struct{}), make(chan struct{})
	w := newWorld(t, fs, func(c *agent.Config) { c.Hooks = []hook.Hook{blocking{entered, leave}} })
	s := w.live(t, "/w")
	done := make(chan error)
	go func() {
		_, err := s.Switch(context.Background(), path)
		done <- err
	}()
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.New(ctx, session.NewOptions{})
	require.ErrorIs(t, err, context.Canceled)
	close(leave)
	require.NoError(t, <-done)
	require.Equal(t, path, *state(t, s).File)
}

type blocking struct{ entered, leave chan struct{} }

func (b blocking) Before(context.Context, hook.Event) (hook.Decision, error) {
	close(b.entered)
	<-b.leave
	return hook.Decision{}, nil
}

func (blocking) After(context.Context, hook.Event) {}

func TestStateIsTheProtocolsShape(t *testing.T) {
	t.Parallel()
	w := newWorld(t, afero.NewMemMapFs(), func(c *agent.Config) { c.InMemory = true })
	b, err := json.Marshal(state(t, w.live(t, "/w")))
	require.NoError(t, err)
	var members map[string]any
	require.NoError(t, json.Unmarshal(b, &members))
	for _, name := range []string{
		"cwd", "sessionId", "file", "leafId", "persistent", "messageCount", "isStreaming", "isCompacting",
		"model", "models", "thinkingLevel", "mode", "queued", "usage",
	} {
		require.Contains(t, members, name)
	}
	require.Nil(t, members["file"])
	require.Nil(t, members["model"])
}
