package lsp_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func TestEventsOnTheWire(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)

	f.live.emit(agent.SessionChanged{Cwd: "/w", SessionID: "s", Seq: 3, Reason: agent.ReasonFork, PreviousSessionFile: "/p.jsonl"})
	require.JSONEq(t, `{"cwd":"/w","sessionId":"s","seq":3,"reason":"fork","previousSessionFile":"/p.jsonl"}`,
		string(ed.WaitNotification("xcsh/sessionChanged")))
	f.live.emit(agent.SessionChanged{Cwd: "/w", SessionID: "s", Seq: 4, Reason: agent.ReasonTree})
	require.JSONEq(t, `{"cwd":"/w","sessionId":"s","seq":4,"reason":"tree"}`, string(ed.WaitNotification("xcsh/sessionChanged")))
	f.live.emit(agent.SessionsChanged{Cwd: "/w"})
	require.JSONEq(t, `{"cwd":"/w"}`, string(ed.WaitNotification("xcsh/sessionsChanged")))
}

func TestALateStateOnTheWire(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)
	f.live.emit(agent.SessionState{
		Cwd: "/w", SessionID: "s", State: agent.State{Cwd: "/w", SessionID: "s", MessageCount: 2},
		Summary: commands.Summary{Text: "<two> messages"}, Repairs: []session.Problem{},
	})
	var got map[string]any
	require.NoError(t, json.Unmarshal(ed.WaitNotification("xcsh/sessionState"), &got))
	require.ElementsMatch(t, []string{"cwd", "sessionId", "state", "summary", "repairs", "pending"}, slices.Collect(maps.Keys(got)))
	require.Equal(t, []any{}, got["pending"])
	require.Equal(t, []any{}, got["repairs"])
	state, ok := got["state"].(map[string]any)
	require.True(t, ok)
	require.InDelta(t, 2, state["messageCount"], 0)
	require.NotContains(t, state, "pending")
}

// A large session is a message in every editor, also without a panel that shows events.
func TestALargeSessionIsAMessage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)
	f.live.emit(agent.RunEvent{Cwd: "/w", SessionID: "s", Seq: 1, Event: event.LargeSession{Bytes: 200 << 20, Text: "It is large\u202e."}})
	require.JSONEq(t, `{"cwd":"/w","sessionId":"s","seq":1,"event":{"type":"large_session","bytes":209715200,"text":"It is large\u202e."}}`,
		string(ed.WaitNotification("xcsh/event")))
	require.JSONEq(t, `{"type":3,"message":"It is large\\u202e."}`, string(ed.WaitNotification("window/showMessage")))
}

// Events of the team's store belong to no session. A fork is a message in every editor.
func TestEventsOfTheTeam(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)
	f.live.emit(agent.RunEvent{Seq: 1, Event: event.TeamState{State: "offline", Unsent: 3}})
	require.JSONEq(t, `{"cwd":"","sessionId":"","seq":1,"event":{"type":"team_state","state":"offline","unsent":3}}`, string(ed.WaitNotification("xcsh/event")))
	f.live.emit(agent.RunEvent{Seq: 2, Event: event.TeamForked{SID: "s", Origin: "o", By: "Kim", At: "x"}})
	require.JSONEq(t, `{"cwd":"","sessionId":"","seq":2,"event":{"type":"team_forked","sid":"s","origin":"o","by":"Kim","at":"x"}}`, string(ed.WaitNotification("xcsh/event")))
	require.JSONEq(t, `{"type":3,"message":"Kim went on with this conversation. Yours is kept as a fork of it; both are in the list."}`,
		string(ed.WaitNotification("window/showMessage")))
}

// A client that does not read blocks neither the sessions nor its own messages. Only repeated
// notifications are dropped.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)
	ed.Pause()
	const n = 1000
	for i := range n {
		f.live.emit(agent.SessionsChanged{Cwd: "/" + strconv.Itoa(i%2)})
		f.live.emit(agent.SessionChanged{Cwd: "/w", SessionID: "s", Seq: uint64(i), Reason: agent.ReasonTree})
	}
	// The server still reads: it gets the request and its cancellation.
	exec := ed.BeginExec("test.wait", nil)
	receive(t, f.running)
	exec.Cancel()
	receive(t, f.ended)
	ed.Resume()

	for i := range n {
		p := decode[lsp.SessionChangedParams](t, ed.WaitNotification("xcsh/sessionChanged"))
		require.EqualValues(t, i, p.Seq)
	}
	_, err = exec.Wait()
	require.Equal(t, "cancelled", err.Kind())
	listed := 0
	for _, m := range ed.Messages() {
		if m.Method == "xcsh/sessionsChanged" {
			listed++
		}
	}
	require.LessOrEqual(t, listed, 6, "repetitions are merged")
	require.GreaterOrEqual(t, listed, 2)
}

// Events that happen while the backend opens are sent after the answer to initialize.
func TestEventsBeforeInitializeIsAnswered(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	early := eagerLive{f.live}
	open := f.options.Open
	f.options.Open = wrapOpen(open, func(b *lsp.Backend) { b.Live = early })
	ed := lsptest.Start(t, f.options)
	ed.Initialize(nil)
	ed.WaitNotification("xcsh/sessionChanged")
	require.Empty(t, ed.Messages()[0].Method, "the answer to initialize is first")
}

// eagerLive emits an event as soon as it has a subscriber.
type eagerLive struct{ *liveFake }

func (l eagerLive) Subscribe(f func(agent.Event)) func() {
	f(agent.SessionChanged{Cwd: "/w", Reason: agent.ReasonStart})
	return l.liveFake.Subscribe(f)
}
