package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// witness records every event and the content of the files at that time.
type witness struct {
	fs      afero.Fs
	refuse  hook.Name                                 // is cancelled
	asked   func(ctx context.Context)                 // is called in each question; may be nil
	onAfter func(ctx context.Context, name hook.Name) // is called after each change; may be nil

	mu     sync.Mutex
	seen   []hook.Event // guarded by mu
	files  []string     // guarded by mu; content of the session's file at each, "" for none
	closed int          // guarded by mu
}

func (w *witness) Before(ctx context.Context, e hook.Event) (hook.Decision, error) {
	w.note(e)
	if w.asked != nil {
		w.asked(ctx)
	}
	return hook.Decision{Cancel: e.Name == w.refuse, By: "guard.sh", Reason: "Not today."}, nil
}

func (w *witness) After(ctx context.Context, e hook.Event) {
	w.note(e)
	if w.onAfter != nil {
		w.onAfter(ctx, e.Name)
	}
}

func (w *witness) Close(context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed++
}

func (w *witness) note(e hook.Event) {
	content, err := afero.ReadFile(w.fs, e.SessionFile)
	if err != nil {
		content = nil // a session without a file
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.files = append(w.seen, e), append(w.files, string(content))
}

// events returns the events since the last call.
func (w *witness) events() []hook.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen, w.files = nil, nil
	return seen
}

// file is the content of the session's file as the last event came.
func (w *witness) file() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.files[len(w.files)-1]
}

func watched(t *testing.T, options ...option) (*world, *witness) {
	t.Helper()
	fs := afero.NewMemMapFs()
	h := &witness{fs: fs}
	return newWorld(t, fs, append(options, func(c *agent.Config) { c.Hooks = []hook.Hook{h} })...), h
}

// Proves: X-192, O-032, O-035, O-053, O-062, P-022
func TestEventsOfAFolderFromItsStartToItsEnd(t *testing.T) {
	t.Parallel()
	w, h := watched(t)
	folders(t, w.fs, "/w", "/v")
	path := put(t, w.fs, "a", "0123456789abcdef", "/w")
	s := w.live(t, "/w")
	w.live(t, "/w")
	fresh := state(t, s)
	at := func(e hook.Event, id, file string) hook.Event {
		e.Cwd, e.SessionID, e.SessionFile = "/w", id, file
		return e
	}
	require.Equal(t, []hook.Event{at(hook.Event{Name: hook.Start, Reason: "startup"}, fresh.SessionID, *fresh.File)}, h.events(), "once")

	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	const id = "0123456789abcdef"
	require.Equal(t, []hook.Event{
		at(hook.Event{Name: hook.BeforeSwitch, Reason: "resume", TargetSessionFile: path}, fresh.SessionID, *fresh.File),
		at(hook.Event{Name: hook.Switch, Reason: "resume", PreviousSessionFile: *fresh.File}, id, path),
	}, h.events())

	_, err = s.Branch(t.Context(), "cccccccc", agent.BranchOptions{})
	require.NoError(t, err)
	_, err = s.Branch(t.Context(), "", agent.BranchOptions{})
	require.NoError(t, err)
	_, err = s.Branch(t.Context(), "bbbbbbbb", agent.BranchOptions{Summary: "so far", Instructions: "short"})
	require.NoError(t, err)
	require.Contains(t, h.file(), `"summary":"so far"`)
	require.Equal(t, []hook.Event{
		at(hook.Event{Name: hook.BeforeTree, EntryID: "cccccccc", OldLeafID: "cccccccc"}, id, path),
		at(hook.Event{Name: hook.Tree, EntryID: "cccccccc", OldLeafID: "cccccccc", NewLeafID: "bbbbbbbb"}, id, path),
		at(hook.Event{Name: hook.BeforeTree, OldLeafID: "bbbbbbbb"}, id, path),
		at(hook.Event{Name: hook.Tree, OldLeafID: "bbbbbbbb"}, id, path),
		at(hook.Event{Name: hook.BeforeTree, EntryID: "bbbbbbbb", UserWantsSummary: true, CustomInstructions: "short"}, id, path),
		at(hook.Event{Name: hook.Tree, EntryID: "bbbbbbbb", NewLeafID: *state(t, s).LeafID}, id, path),
	}, h.events())

	_, _, err = s.ForkAt(t.Context(), "bbbbbbbb", session.AtIt)
	require.NoError(t, err)
	part := state(t, s)
	require.Contains(t, h.file(), part.SessionID, "the copy is on disk")
	require.Equal(t, []hook.Event{
		at(hook.Event{Name: hook.BeforeFork, EntryID: "bbbbbbbb", Position: "at"}, id, path),
		at(hook.Event{Name: hook.Branch, EntryID: "bbbbbbbb", PreviousSessionFile: path}, part.SessionID, *part.File),
	}, h.events())

	_, err = s.Fork(t.Context())
	require.NoError(t, err)
	copied := state(t, s)
	require.Contains(t, h.file(), copied.SessionID)
	_, err = s.ForkFrom(t.Context(), path)
	require.NoError(t, err)
	from := state(t, s)
	_, err = s.New(t.Context(), session.NewOptions{})
	require.NoError(t, err)
	last := state(t, s)
	require.Equal(t, []hook.Event{
		at(hook.Event{Name: hook.BeforeSwitch, Reason: "fork"}, part.SessionID, *part.File),
		at(hook.Event{Name: hook.Switch, Reason: "fork", PreviousSessionFile: *part.File}, copied.SessionID, *copied.File),
		at(hook.Event{Name: hook.BeforeSwitch, Reason: "fork", TargetSessionFile: path}, copied.SessionID, *copied.File),
		at(hook.Event{Name: hook.Switch, Reason: "fork", PreviousSessionFile: *copied.File}, from.SessionID, *from.File),
		at(hook.Event{Name: hook.BeforeSwitch, Reason: "new"}, from.SessionID, *from.File),
		at(hook.Event{Name: hook.Switch, Reason: "new", PreviousSessionFile: *from.File}, last.SessionID, *last.File),
	}, h.events())

	require.NoError(t, w.CloseFolder(t.Context(), "/w"))
	require.Equal(t, []hook.Event{at(hook.Event{Name: hook.Shutdown, Reason: "quit"}, last.SessionID, *last.File)}, h.events())
	require.Zero(t, h.closed)
	require.NoError(t, w.Close(t.Context()))
	require.Empty(t, h.events(), "once")
	require.Equal(t, 1, h.closed)
}

// Proves: X-200
func TestEventsOfAMoveAndADeletion(t *testing.T) {
	t.Parallel()
	w, h := watched(t)
	folders(t, w.fs, "/w", "/v")
	path := put(t, w.fs, "a", "0123456789abcdef", "/w")
	s, there := w.live(t, "/w"), w.live(t, "/v")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	was := state(t, there)
	h.events()

	_, err = s.MoveTo(t.Context(), "/v")
	require.NoError(t, err)
	const id = "0123456789abcdef"
	fresh := state(t, s)
	require.Equal(t, []hook.Event{
		{Name: hook.BeforeSwitch, Cwd: "/w", SessionID: id, SessionFile: path, Reason: "new"},
		{Name: hook.BeforeSwitch, Cwd: "/v", SessionID: was.SessionID, SessionFile: *was.File, Reason: "resume", TargetSessionFile: thereV},
		{Name: hook.Switch, Cwd: "/w", SessionID: fresh.SessionID, SessionFile: *fresh.File, Reason: "new", PreviousSessionFile: path},
		{Name: hook.Switch, Cwd: "/v", SessionID: id, SessionFile: thereV, Reason: "resume", PreviousSessionFile: *was.File},
	}, h.events())

	_, err = there.Trash(t.Context())
	require.NoError(t, err)
	left := state(t, there)
	require.Equal(t, []hook.Event{
		{Name: hook.BeforeSwitch, Cwd: "/v", SessionID: id, SessionFile: thereV, Reason: "new"},
		{Name: hook.Switch, Cwd: "/v", SessionID: left.SessionID, SessionFile: *left.File, Reason: "new", PreviousSessionFile: thereV},
	}, h.events())

	require.NoError(t, w.Close(t.Context()))
	ends := h.events()
	require.Len(t, ends, 2, "one for each folder")
	for _, e := range ends {
		require.Equal(t, hook.Shutdown, e.Name)
	}
}

// A move is not undone after a hook was notified of it.
// Proves: O-065
func TestMoveIsCompletedAfterItsNotification(t *testing.T) {
	t.Parallel()
	w, h := watched(t)
	folders(t, w.fs, "/w", "/v")
	path := put(t, w.fs, "a", "0123456789abcdef", "/w")
	s := w.live(t, "/w")
	w.live(t, "/v")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	h.onAfter = func(_ context.Context, name hook.Name) {
		if name == hook.Switch {
			cancel()
		}
	}
	_, err = s.MoveTo(ctx, "/v")
	require.NoError(t, err)
	require.Equal(t, "0123456789abcdef", state(t, w.live(t, "/v")).SessionID)
}

// Proves: O-065
func TestEventsOfCompactions(t *testing.T) {
	t.Parallel()
	long := providertest.Reply{Text: strings.Repeat("words ", 100), Usage: provider.Usage{Input: 400, TotalTokens: 400}}
	for name, tc := range map[string]struct {
		window  int
		prompts int
		manual  bool
		replies []providertest.Reply
		again   bool
	}{
		"manual":    {100_000, 2, true, []providertest.Reply{long, {Text: "two"}, {Text: "SUMMARY"}}, false},
		"threshold": {150, 1, false, []providertest.Reply{long, {Text: "SUMMARY"}}, false},
		"overflow":  {100_000, 3, false, []providertest.Reply{{Text: "one"}, {Text: "two"}, {Fault: providertest.TooLong}, {Text: "SUMMARY"}, {Text: "three"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := scripted(tc.replies...)
			m.window = tc.window
			w, h := watched(t, withModel(m), func(c *agent.Config) { c.Compaction = compaction.Settings{Reserve: 10, KeepRecent: 2} })
			s := w.live(t, "/w")
			instructions := ""
			for i := range tc.prompts {
				prompt(t, s, fmt.Sprint("prompt ", i))
			}
			if tc.manual {
				instructions = "the tests"
				_, err := s.Compact(t.Context(), instructions)
				require.NoError(t, err)
			}
			id, file := state(t, s).SessionID, s.File()
			var summary string
			var recorded session.Compaction
			require.NoError(t, s.View(func(d *session.Document, leaf session.Leaf) error {
				for _, i := range d.PathTo(leaf) {
					e, err := d.Entry(i)
					require.NoError(t, err)
					if e.Type == session.TypeCompaction {
						summary, recorded = e.ID, e.AsCompaction()
					}
				}
				return nil
			}))
			require.NotEmpty(t, summary)
			seen := h.events()
			tokens, err := strconv.Atoi(string(recorded.TokensBefore))
			require.NoError(t, err)
			require.Equal(t, []hook.Event{
				{
					Name: hook.BeforeCompact, Cwd: "/w", SessionID: id, SessionFile: file, Reason: name, CustomInstructions: instructions, WillRetry: tc.again,
					FirstKeptEntryID: recorded.FirstKeptEntryID, TokensBefore: tokens,
				},
				{Name: hook.Compact, Cwd: "/w", SessionID: id, SessionFile: file, Reason: name, EntryID: summary, WillRetry: tc.again},
			}, seen[1:])
		})
	}
}

// A failed compaction sends no notification.
func TestFailedCompactionNotifiesNoHook(t *testing.T) {
	t.Parallel()
	w, h := watched(t, withModel(scripted(providertest.Reply{Text: "one"}, providertest.Reply{Text: "two"}, providertest.Reply{Text: ""})),
		func(c *agent.Config) { c.Compaction = compaction.Settings{KeepRecent: 2} })
	s := w.live(t, "/w")
	prompt(t, s, "first")
	prompt(t, s, "second")
	h.events()
	_, err := s.Compact(t.Context(), "")
	require.Error(t, err)
	seen := h.events()
	require.Len(t, seen, 1)
	require.Equal(t, hook.BeforeCompact, seen[0].Name)
}

// The hook and its reason are reported if the command has room for them.
// Proves: X-193, P-023
func TestVetoNamesTheHookAndItsReason(t *testing.T) {
	t.Parallel()
	const why = "hook guard.sh: Not today."
	type act func(t *testing.T, s *agent.Session, path string) (agent.Outcome, error)
	for name, tc := range map[string]struct {
		refuse hook.Name
		act    act
		err    string
	}{
		"switch": {hook.BeforeSwitch, func(t *testing.T, s *agent.Session, path string) (agent.Outcome, error) {
			return s.Switch(t.Context(), path)
		}, ""},
		"new": {hook.BeforeSwitch, func(t *testing.T, s *agent.Session, _ string) (agent.Outcome, error) {
			return s.New(t.Context(), session.NewOptions{})
		}, ""},
		"fork": {hook.BeforeSwitch, func(t *testing.T, s *agent.Session, _ string) (agent.Outcome, error) { return s.Fork(t.Context()) }, ""},
		"fork at": {hook.BeforeFork, func(t *testing.T, s *agent.Session, _ string) (agent.Outcome, error) {
			_, out, err := s.ForkAt(t.Context(), "bbbbbbbb", session.AtIt)
			return out, err
		}, ""},
		"branch": {hook.BeforeTree, func(t *testing.T, s *agent.Session, _ string) (agent.Outcome, error) {
			_, err := s.Branch(t.Context(), "bbbbbbbb", agent.BranchOptions{Summary: "so far"})
			return agent.Outcome{}, err
		}, "The hook guard.sh cancelled the branch change: Not today."},
		"delete": {hook.BeforeSwitch, func(t *testing.T, s *agent.Session, _ string) (agent.Outcome, error) {
			_, err := s.Trash(t.Context())
			return agent.Outcome{}, err
		}, "The hook guard.sh cancelled the deletion: Not today."},
		"move": {hook.BeforeSwitch, func(t *testing.T, s *agent.Session, _ string) (agent.Outcome, error) {
			_, err := s.MoveTo(t.Context(), "/v")
			return agent.Outcome{}, err
		}, "The hook guard.sh cancelled the move: Not today."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, h := watched(t)
			folders(t, w.fs, "/w", "/v")
			path := put(t, w.fs, "a", "0123456789abcdef", "/w")
			s := w.live(t, "/w")
			w.live(t, "/v")
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			before, was, changes := state(t, s), readFile(t, w.fs, path), len(w.changes())
			h.events()
			h.refuse = tc.refuse

			out, err := tc.act(t, s, path)
			if tc.err == "" {
				require.NoError(t, err)
				require.Equal(t, agent.Outcome{CancelledBy: why}, out)
			} else {
				require.EqualError(t, err, tc.err)
				require.Equal(t, fault.Cancelled, fault.KindOf(err))
			}
			require.Equal(t, before, state(t, s))
			require.Equal(t, was, readFile(t, w.fs, path))
			require.Len(t, w.changes(), changes)
			require.Len(t, h.events(), 1, "a refused session is not announced")
		})
	}
}

// Proves: X-193, P-023
func TestAVetoOfACompaction(t *testing.T) {
	t.Parallel()
	w, h := watched(t, withModel(scripted(providertest.Reply{Text: "one"}, providertest.Reply{Text: "two"})),
		func(c *agent.Config) { c.Compaction = compaction.Settings{KeepRecent: 2} })
	s := w.live(t, "/w")
	prompt(t, s, "first")
	prompt(t, s, "second")
	before, was := state(t, s), readFile(t, w.fs, s.File())
	h.refuse = hook.BeforeCompact
	_, err := s.Compact(t.Context(), "")
	require.EqualError(t, err, "The hook guard.sh cancelled the compaction: Not today.")
	require.Equal(t, fault.Cancelled, fault.KindOf(err))
	require.Equal(t, before, state(t, s))
	require.Equal(t, was, readFile(t, w.fs, s.File()))
	for _, e := range w.runEvents() {
		require.NotContains(t, e.Event.Type(), "compaction", "a refused compaction is not announced")
	}
}

// A turn continues without a compaction that was refused.
// Proves: X-193
func TestAVetoOfAnAutomaticCompaction(t *testing.T) {
	t.Parallel()
	m := scripted(providertest.Reply{Text: strings.Repeat("words ", 100), Usage: provider.Usage{Input: 400, TotalTokens: 400}})
	m.window = 150
	w, h := watched(t, withModel(m), func(c *agent.Config) { c.Compaction = compaction.Settings{Reserve: 10, KeepRecent: 2} })
	h.refuse = hook.BeforeCompact
	s := w.live(t, "/w")
	turn := prompt(t, s, "hi")
	require.Equal(t, provider.StopEnd, turn.StopReason)
	require.NotContains(t, lines(t, w.fs, s), "compaction")
	var names []hook.Name
	for _, e := range h.events() {
		names = append(names, e.Name)
	}
	require.Equal(t, []hook.Name{hook.Start, hook.BeforeCompact}, names, "asked once")
}

// A change that is cancelled while a slow hook is running is not made.
// Proves: X-194
func TestCancelWhileAHookRunsPreventsTheChange(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(ctx context.Context, s *agent.Session, path string) error{
		"switch": func(ctx context.Context, s *agent.Session, path string) error {
			_, err := s.Switch(ctx, path)
			return err
		},
		"branch": func(ctx context.Context, s *agent.Session, _ string) error {
			_, err := s.Branch(ctx, "bbbbbbbb", agent.BranchOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, h := watched(t)
			path := put(t, w.fs, "a", "0123456789abcdef", "/w")
			s := w.live(t, "/w")
			_, err := s.Switch(t.Context(), path)
			require.NoError(t, err)
			before := state(t, s)
			h.events()
			ctx, cancel := context.WithCancel(t.Context())
			h.asked = func(context.Context) { cancel() }
			require.ErrorIs(t, act(ctx, s, path), context.Canceled)
			require.Equal(t, before, state(t, s))
			require.Len(t, h.events(), 1)
		})
	}
}

// Two callers that open a folder at the same moment get one session, and the operations of both
// come after its start.
// Proves: O-065
func TestTheStartIsTheFirstEvent(t *testing.T) {
	t.Parallel()
	w, h := watched(t)
	path := put(t, w.fs, "a", "0123456789abcdef", "/w")
	started, leave, done := make(chan struct{}), make(chan struct{}), make(chan error)
	h.onAfter = func(_ context.Context, name hook.Name) {
		if name == hook.Start {
			close(started)
			<-leave
		}
	}
	go func() {
		_, err := w.Session(context.Background(), "/w")
		done <- err
	}()
	<-started
	go func() {
		_, err := w.Live("/w").Switch(context.Background(), path)
		done <- err
	}()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Live("/w").New(ctx, session.NewOptions{})
	require.ErrorIs(t, err, context.Canceled, "the session is still being opened")
	close(leave)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	var names []hook.Name
	for _, e := range h.events() {
		names = append(names, e.Name)
	}
	require.Equal(t, []hook.Name{hook.Start, hook.BeforeSwitch, hook.Switch}, names)
	require.Equal(t, []agent.Reason{agent.ReasonStart, agent.ReasonResume}, w.reasons())
}

// reasons are those of all changes of session so far.
func (w *world) reasons() (reasons []agent.Reason) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if c, ok := e.(agent.SessionChanged); ok {
			reasons = append(reasons, c.Reason)
		}
	}
	return reasons
}

// The last message is in the file when the shutdown hook runs: the hook may copy the file.
// Proves: O-065
func TestTheFileIsCompleteAtTheEnd(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		h := &witness{fs: fs}
		w := newWorld(t, fs, func(c *agent.Config) { c.Hooks, c.Store.LockDir = []hook.Hook{h}, "/locks" })
		path := put(t, fs, "a", "0123456789abcdef", "/w")
		s := w.live(t, "/w")
		_, err := s.Switch(t.Context(), path)
		require.NoError(t, err)
		require.NoError(t, err)
		before := readFile(t, fs, path)
		_, err = s.Label(t.Context(), "aaaaaaaa", "L")
		require.NoError(t, err)
		locked := func() bool {
			locks, err := afero.ReadDir(fs, "/locks")
			require.NoError(t, err)
			return len(locks) > 0
		}
		require.True(t, locked())
		h.onAfter = func(context.Context, hook.Name) { assert.False(t, locked(), "no lock is held") }
		require.NoError(t, w.Close(t.Context()))
		require.NotEqual(t, before, h.file())
		require.Equal(t, readFile(t, fs, path), h.file())
		require.Equal(t, hook.Shutdown, h.events()[3].Name)
	})
}

// The fields in the documentation are those that events have.
func TestTheDocumentedFieldsOfEvents(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../docs/hooks.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(content), "<!-- events -->\n")
	table, _, _ = strings.Cut(table, "\n\n")
	documented := map[hook.Name][]string{}
	for _, row := range strings.Split(table, "\n")[2:] {
		cells := strings.Split(row, "|")
		var fields []string
		for _, m := range regexp.MustCompile("`([a-zA-Z]+)`").FindAllStringSubmatch(cells[4], -1) {
			if member, known := reflectedFields()[m[1]]; known && member {
				fields = append(fields, m[1])
			}
		}
		documented[hook.Name(strings.Trim(cells[1], " `"))] = slices.Sorted(slices.Values(fields))
	}
	carried := map[hook.Name][]string{}
	for name, fields := range carriedFields(t) {
		carried[name] = slices.Sorted(maps.Keys(fields))
	}
	require.Equal(t, documented, carried)
}

// reflectedFields are the members that an event may have beside those that all have.
func reflectedFields() map[string]bool {
	b, _ := json.Marshal(hook.Event{
		SessionFile: "x", Reason: "x", TargetSessionFile: "x", PreviousSessionFile: "x", EntryID: "x", Position: "x", OldLeafID: "x",
		NewLeafID: "x", UserWantsSummary: true, CustomInstructions: "x", WillRetry: true, Plan: &hook.RewindPlan{},
	})
	var members map[string]any
	_ = json.Unmarshal(b, &members)
	own := map[string]bool{}
	for name := range members {
		own[name] = !slices.Contains([]string{"type", "cwd", "sessionId", "sessionFile"}, name)
	}
	return own
}

// carriedFields makes a session emit all events and returns their fields.
func carriedFields(t *testing.T) map[hook.Name]map[string]bool {
	t.Helper()
	m := scripted(providertest.Reply{Text: "one"}, providertest.Reply{Text: "two"}, providertest.Reply{Fault: providertest.TooLong},
		providertest.Reply{Text: "SUMMARY"}, providertest.Reply{Text: "three"}, providertest.Reply{Text: "SUMMARY"})
	w, h := watched(t, withModel(m), func(c *agent.Config) { c.Compaction = compaction.Settings{KeepRecent: 2} })
	path := put(t, w.fs, "a", "0123456789abcdef", "/w")
	s := w.live(t, "/w")
	for _, text := range []string{"first", "second", "third"} {
		prompt(t, s, text)
	}
	_, _ = s.Compact(t.Context(), "the tests")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	_, err = s.Branch(t.Context(), "bbbbbbbb", agent.BranchOptions{Summary: "so far", Instructions: "short"})
	require.NoError(t, err)
	_, _, err = s.ForkAt(t.Context(), "bbbbbbbb", session.AtIt)
	require.NoError(t, err)
	require.NoError(t, w.Close(t.Context()))
	rewinds := &veto{}
	_, rewound, _ := rewinding(t, func(c *agent.Config) { c.Hooks = []hook.Hook{rewinds} })
	rewindTo(t, rewound, wire.RewindArgs{Before: new("cccccccc")})
	carried := map[hook.Name]map[string]bool{}
	for _, e := range slices.Concat(h.events(), rewinds.seen) {
		b, err := json.Marshal(e)
		require.NoError(t, err)
		var members map[string]any
		require.NoError(t, json.Unmarshal(b, &members))
		if carried[e.Name] == nil {
			carried[e.Name] = map[string]bool{}
		}
		for name := range members {
			if reflectedFields()[name] {
				carried[e.Name][name] = true
			}
		}
	}
	return carried
}
