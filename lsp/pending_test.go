package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// reviewFake replaces the changes of the live session of /w.
type reviewFake struct {
	reported chan event.ChangesChanged

	mu    sync.Mutex
	files []wire.File         // guarded by mu
	asked []wire.ChangesQuery // guarded by mu
	err   error               // guarded by mu
}

func (r *reviewFake) Changes(_ context.Context, cwd string, q wire.ChangesQuery) (wire.Changes, bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, q)
	if cwd != "/w" || r.err != nil {
		return wire.Changes{}, false, r.err
	}
	all := wire.Changes{Since: q.Since}
	for _, f := range r.files {
		if q.Path != "" && q.Path != f.Path {
			continue
		}
		if q.Hunks == nil || !*q.Hunks {
			f.Hunks = nil
		}
		all.Totals.Pending += f.Pending
		all.Files = append(all.Files, f)
	}
	return all, true, nil
}

func (r *reviewFake) Report(_ string, e event.Event) { r.reported <- e.(event.ChangesChanged) }

// set replaces the hunks of /w/a.
func (r *reviewFake) set(hunks ...wire.Hunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pending := 0
	for _, h := range hunks {
		if h.State == "pending" {
			pending++
		}
	}
	r.files = []wire.File{{Path: "/w/a", Status: wire.Modified, Hunks: hunks, Pending: pending}}
}

func (r *reviewFake) queries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

func pendingHunk(id string, start, lines int) wire.Hunk {
	return wire.Hunk{Hunk: id, NewStart: start, NewLines: lines, State: "pending"}
}

// reviewing is an editor in a folder whose session changed files.
type reviewing struct {
	*lsptest.Editor
	*reviewFake
	f *fixture
}

func startReviewing(t *testing.T, params lsptest.Fields) reviewing {
	t.Helper()
	unixPaths(t)
	f, fake := newFixture(t), &reviewFake{reported: make(chan event.ChangesChanged, 16)}
	f.options.Open = wrapOpen(f.options.Open, func(b *lsp.Backend) { b.Reviewer = fake })
	ed := lsptest.Start(t, f.options)
	all := lsptest.Fields{
		"workspaceFolders": []any{lsptest.Fields{"uri": "file:///w", "name": "w"}},
		"capabilities": lsptest.Fields{
			"textDocument": lsptest.Fields{"codeAction": lsptest.Fields{"codeActionLiteralSupport": lsptest.Fields{}}},
			"workspace":    lsptest.Fields{"codeLens": lsptest.Fields{"refreshSupport": true}},
		},
	}
	maps.Copy(all, params)
	ed.Initialize(all)
	return reviewing{ed, fake, f}
}

// action is a code action as its test needs it.
type action struct {
	Title   string
	Command struct {
		Command   string
		Arguments []json.RawMessage
	}
}

// actions returns the code actions in lines of a document, from 0.
func (r reviewing) actions(t *testing.T, path string, from, to int) (actions []action, titles []string) {
	t.Helper()
	res, fail := r.Call("textDocument/codeAction", lsptest.Fields{
		"textDocument": lsptest.Fields{"uri": lsptest.URI(path)},
		"range":        lsptest.Fields{"start": lsptest.Fields{"line": from, "character": 0}, "end": lsptest.Fields{"line": to, "character": 0}},
		"context":      lsptest.Fields{"diagnostics": []any{}, "only": []string{"quickfix"}},
	})
	require.Nil(t, fail)
	actions = decode[[]action](t, res)
	for _, a := range actions {
		titles = append(titles, a.Title)
	}
	return actions, titles
}

func TestChangesHaveActions(t *testing.T) {
	t.Parallel()
	r := startReviewing(t, nil)
	kept := pendingHunk("kept", 1, 9)
	kept.State = "kept"
	mixed := pendingHunk("mixed", 8, 1)
	mixed.Mixed = true
	r.set(kept, pendingHunk("a1", 2, 2), pendingHunk("gone", 6, 0), mixed)
	r.Open("/w/a", strings.Repeat("line\n", 20))
	for name, tc := range map[string]struct {
		from, to int
		titles   []string
	}{
		"before it":       {0, 0, nil},
		"its first line":  {1, 1, []string{"xcsh: undo this change", "xcsh: keep this change"}},
		"its last line":   {2, 2, []string{"xcsh: undo this change", "xcsh: keep this change"}},
		"behind it":       {3, 3, nil},
		"before the gap":  {4, 4, []string{"xcsh: undo this change", "xcsh: keep this change"}},
		"behind the gap":  {5, 5, []string{"xcsh: undo this change", "xcsh: keep this change"}},
		"one of the user": {7, 7, []string{"xcsh: undo this change, including your edits", "xcsh: keep this change, including your edits"}},
		"several": {0, 5, []string{
			"xcsh: undo this change (lines 2 to 3)", "xcsh: keep this change (lines 2 to 3)",
			"xcsh: undo this change (removed before line 6)", "xcsh: keep this change (removed before line 6)",
		}},
	} {
		_, titles := r.actions(t, "/w/a", tc.from, tc.to)
		if tc.from != tc.to { // a selection
			require.Equal(t, tc.titles, titles, name)
			continue
		}
		require.Equal(t, tc.titles, titles, name)
	}
	actions, _ := r.actions(t, "/w/a", 1, 1)
	require.Equal(t, "xcsh.rewind", actions[0].Command.Command)
	require.JSONEq(t, `{"cwd":"/w","hunks":[{"path":"/w/a","hunk":"a1"}],"dryRun":false}`, string(actions[0].Command.Arguments[0]))
	require.Equal(t, "xcsh.keep", actions[1].Command.Command)
	require.JSONEq(t, `{"cwd":"/w","hunks":[{"path":"/w/a","hunk":"a1"}]}`, string(actions[1].Command.Arguments[0]))
}

// Clients ask whenever the cursor moves. The session is asked once for a version of a document that it changed, and not at all about
// others.
func TestTheSessionIsAskedRarely(t *testing.T) {
	t.Parallel()
	r := startReviewing(t, nil)
	r.set(pendingHunk("a1", 1, 1))
	r.Open("/w/a", "line\n")
	r.Open("/w/b", "line\n")
	r.Open("/v/c", "line\n")
	for range 3 {
		_, titles := r.actions(t, "/w/a", 0, 0)
		require.Len(t, titles, 2)
		for _, other := range []string{"/w/b", "/v/c", "/w/closed"} {
			_, titles = r.actions(t, other, 0, 0)
			require.Empty(t, titles)
		}
	}
	require.Equal(t, 2, r.queries())
	r.Change("/w/b", 2, "typed\n")
	r.actions(t, "/w/b", 0, 0)
	require.Equal(t, 2, r.queries())
	r.Change("/w/a", 2, "typed\n")
	r.set()
	_, titles := r.actions(t, "/w/a", 0, 0)
	require.Empty(t, titles)
	require.Equal(t, 3, r.queries())

	r.set(pendingHunk("a2", 1, 1))
	r.f.live.emit(agent.RunEvent{Cwd: "/w", SessionID: "s", Seq: 1, Event: event.ChangesChanged{}})
	_, titles = r.actions(t, "/w/a", 0, 0)
	require.Len(t, titles, 2, "the session changed it again")
	r.WaitNotification("xcsh/event")
	r.set()
	r.f.live.emit(agent.SessionChanged{Cwd: "/w", SessionID: "t", Seq: 1, Reason: agent.ReasonNew})
	_, titles = r.actions(t, "/w/a", 0, 0)
	require.Empty(t, titles, "another session")
}

func TestClientsWithAnInterfaceOfTheirOwnGetNoActions(t *testing.T) {
	t.Parallel()
	r := startReviewing(t, lsptest.Fields{"initializationOptions": lsptest.Fields{
		"ui": lsptest.Fields{"hooks": true}, "changes": lsptest.Fields{"lens": true},
	}})
	r.set(pendingHunk("a1", 1, 1))
	r.Open("/w/a", "line\n")
	_, titles := r.actions(t, "/w/a", 0, 0)
	require.Empty(t, titles)
	res, fail := r.Call("textDocument/codeLens", lsptest.Fields{"textDocument": lsptest.Fields{"uri": "file:///w/a"}})
	require.Nil(t, fail)
	require.Equal(t, "null", string(res))
}

// A failure, and what a session must not say, costs no other action.
func TestActionsWithoutChanges(t *testing.T) {
	t.Parallel()
	r := startReviewing(t, nil)
	r.err = errors.New("the disk is on fire")
	r.Open("/w/a", "line\n")
	res, fail := r.Call("textDocument/codeAction", lsptest.Fields{
		"textDocument": lsptest.Fields{"uri": "file:///w/a"},
		"range":        lsptest.Fields{"start": lsptest.Fields{"line": 0, "character": 0}, "end": lsptest.Fields{"line": 0, "character": 2}},
		"context":      lsptest.Fields{"diagnostics": []any{}},
	})
	require.Nil(t, fail)
	require.Contains(t, string(res), "Ask xcsh: explain this")

	r.mu.Lock()
	r.err = nil
	r.mu.Unlock()
	r.set(pendingHunk("a", -5, 0), pendingHunk("b", 0, 0), pendingHunk("c", 1<<40, 1<<40), pendingHunk("d", 1, -3))
	for _, lines := range [][2]int{{0, 0}, {0, 1 << 30}, {1 << 30, 0}} {
		r.actions(t, "/w/a", lines[0], lines[1])
	}
	for range 300 {
		r.files[0].Hunks = append(r.files[0].Hunks, pendingHunk("x", 1, 1))
	}
	r.f.live.emit(agent.RunEvent{Cwd: "/w", SessionID: "s", Seq: 1, Event: event.Rewound{}})
	_, titles := r.actions(t, "/w/a", 0, 0)
	require.Len(t, titles, 10)
}

func TestChangesHaveLensesIfTheUserWantsThem(t *testing.T) {
	t.Parallel()
	ask := func(r reviewing) string {
		res, fail := r.Call("textDocument/codeLens", lsptest.Fields{"textDocument": lsptest.Fields{"uri": "file:///w/a"}})
		require.Nil(t, fail)
		return string(res)
	}
	r := startReviewing(t, nil)
	r.set(pendingHunk("a1", 3, 1))
	r.Open("/w/a", "line\n")
	require.Equal(t, "null", ask(r), "it is off by default")
	require.Zero(t, r.queries())

	r = startReviewing(t, lsptest.Fields{"initializationOptions": lsptest.Fields{"changes": lsptest.Fields{"lens": true}}})
	r.set(pendingHunk("a1", 3, 1))
	require.Equal(t, "[]", ask(r), "a document that is not open")
	r.Open("/w/a", "line\n")
	at := `"range":{"start":{"line":2,"character":0},"end":{"line":2,"character":0}}`
	args := `"cwd":"/w","hunks":[{"path":"/w/a","hunk":"a1"}]`
	require.JSONEq(t, `[{`+at+`,"command":{"title":"Keep","command":"xcsh.keep","arguments":[{`+args+`}]}},`+
		`{`+at+`,"command":{"title":"Undo","command":"xcsh.rewind","arguments":[{`+args+`,"dryRun":false}]}}]`, ask(r))
	r.f.live.emit(agent.RunEvent{Cwd: "/w", SessionID: "s", Seq: 1, Event: event.Rewound{}})
	r.WaitRequest("workspace/codeLens/refresh").Reply(nil)
}

// A document change that moves pending changes is reported, at most once in 300 ms.
func TestWhatIsLeftToReviewMovesWithADocument(t *testing.T) {
	t.Parallel()
	r := startReviewing(t, nil)
	r.set(pendingHunk("a1", 1, 1))
	sync := func() {
		t.Helper()
		_, err := r.Exec("test.echo", nil)
		require.Nil(t, err)
	}
	r.Open("/w/a", "line\n")
	r.Open("/w/b", "line\n")
	r.Open("/v/c", "line\n")
	sync()
	r.f.clock.advance(300 * time.Millisecond)
	require.Equal(t, event.ChangesChanged{Totals: wire.Totals{Pending: 1}, Paths: []string{"/w/a"}}, receive(t, r.reported))
	for version := 2; version < 20; version++ {
		r.Change("/w/a", version, fmt.Sprint(version))
	}
	r.set(pendingHunk("a2", 1, 1), pendingHunk("a3", 5, 1))
	sync()
	before := r.queries()
	r.f.clock.advance(299 * time.Millisecond)
	require.Equal(t, before, r.queries())
	r.f.clock.advance(time.Millisecond)
	require.Equal(t, event.ChangesChanged{Totals: wire.Totals{Pending: 2}, Paths: []string{"/w/a"}}, receive(t, r.reported))

	r.Change("/w/a", 30, "the same")
	r.Change("/w/b", 2, "not of the session")
	sync()
	r.f.clock.advance(time.Second)
	r.set()
	for r.queries() == before+1 {
		sync()
	}
	r.Save("/w/a")
	sync()
	r.f.clock.advance(time.Second)
	require.Equal(t, event.ChangesChanged{}, receive(t, r.reported), "the second change reported nothing")
}
