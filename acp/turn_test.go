package acp_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// edit returns a call of the edit tool.
func edit(path, old, text string) providertest.Call {
	return providertest.Call{Name: "edit", Args: object{"path": path, "edits": []object{{"oldText": old, "newText": text}}}}
}

// choose answers the server's requests for permission with the option with that id, and delivers them on
// the channel.
func choose(c *client, option string) <-chan json.RawMessage {
	asked := make(chan json.RawMessage, 10)
	c.on("session/request_permission", func(p json.RawMessage) (any, *wireError) {
		asked <- p
		return object{"outcome": object{"outcome": "selected", "optionId": option}}, nil
	})
	return asked
}

// Proves: ACP-03
func TestATurnWithAToolCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a.txt", "one\ntwo\nthree\n")
	w.models.Script("m",
		providertest.Reply{Thinking: "Let me think.", Text: "I edit it.", ToolCalls: []providertest.Call{edit("a.txt", "two", "TWO")}},
		providertest.Reply{Text: "Done."})
	c := w.connect(t, object{})
	asked := choose(c, "once")
	id := c.open()
	require.Equal(t, "end_turn", c.prompt(id, "edit it"))
	require.Equal(t, "one\nTWO\nthree\n", w.read(t, "/w/a.txt"))

	all := c.updates(id)
	assert.Equal(t, "Let me think.", words(all, "agent_thought_chunk"))
	assert.Equal(t, "I edit it.Done.", words(all, "agent_message_chunk"))
	var calls []update
	messages := map[string]bool{}
	for _, u := range all {
		if u.CallID != "" {
			calls = append(calls, u)
		}
		if u.Kind == "agent_message_chunk" {
			messages[u.MessageID] = true
		}
	}
	assert.Len(t, messages, 2, "each answer is a message of its own")
	require.Len(t, calls, 3)
	assert.Equal(t, []string{"tool_call", "tool_call_update", "tool_call_update"}, []string{calls[0].Kind, calls[1].Kind, calls[2].Kind})
	assert.Equal(t, []string{"pending", "in_progress", "completed"}, []string{calls[0].Status, calls[1].Status, calls[2].Status})
	assert.Equal(t, "edit a.txt", calls[0].Title)
	assert.Equal(t, "edit", calls[0].ToolKind)
	assert.Equal(t, "/w/a.txt", calls[0].Locations[0].Path)
	assert.JSONEq(t, `{"path":"a.txt","edits":[{"oldText":"two","newText":"TWO"}]}`, string(calls[0].RawInput))
	assert.Equal(t, 2, calls[2].Locations[0].Line, "where the change is")
	shown := contents(t, calls[2].Content)
	require.Len(t, shown, 2)
	assert.Equal(t, "diff", shown[0].Type)
	assert.Equal(t, "/w/a.txt", shown[0].Path)
	assert.Equal(t, "one\ntwo\nthree\n", *shown[0].OldText)
	assert.Equal(t, "one\nTWO\nthree\n", shown[0].NewText)
	assert.Contains(t, shown[1].Content.Text, "Successfully replaced")

	var question struct {
		SessionID string `json:"sessionId"`
		ToolCall  update `json:"toolCall"`
		Options   []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	require.NoError(t, json.Unmarshal(<-asked, &question))
	assert.Equal(t, id, question.SessionID)
	assert.Equal(t, calls[0].CallID, question.ToolCall.CallID, "the question is about the call that is shown")
	assert.Equal(t, "Edit a.txt", question.ToolCall.Title)
	before := contents(t, question.ToolCall.Content)
	require.Len(t, before, 1)
	assert.Equal(t, "one\ntwo\nthree\n", *before[0].OldText)
	assert.Equal(t, "one\nTWO\nthree\n", before[0].NewText)
	kinds := map[string]string{}
	for _, o := range question.Options {
		kinds[o.ID] = o.Kind
	}
	assert.Equal(t, map[string]string{"once": "allow_once", "session": "allow_always", "deny": "reject_once"}, kinds)

	// They come before the response, but settings that are sent in the background may follow them.
	at := slices.IndexFunc(all, func(u update) bool { return u.Used != nil })
	require.NotEqual(t, -1, at, "the window's use is reported")
	assert.Equal(t, 1000, all[at].Size)
	at = slices.IndexFunc(all, func(u update) bool { return u.Kind == "session_info_update" })
	require.NotEqual(t, -1, at, "the title is reported")
	assert.Equal(t, "edit it", all[at].Title)
}

// Proves: ACP-03
func TestPermission(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer any
		err    *wireError
		edited bool
	}{
		"once":              {answer: object{"outcome": object{"outcome": "selected", "optionId": "once"}}, edited: true},
		"session":           {answer: object{"outcome": object{"outcome": "selected", "optionId": "session"}}, edited: true},
		"deny":              {answer: object{"outcome": object{"outcome": "selected", "optionId": "deny"}}},
		"an unknown option": {answer: object{"outcome": object{"outcome": "selected", "optionId": "sure"}}},
		"cancelled":         {answer: object{"outcome": object{"outcome": "cancelled"}}},
		"nothing":           {answer: object{}},
		"no object":         {answer: "yes"},
		"an error":          {err: &wireError{Code: -32601, Message: "Method not found"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.file(t, "/w/a.txt", "one\n")
			w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{edit("a.txt", "one", "two")}}, providertest.Reply{Text: "Well."})
			c := w.connect(t, object{})
			c.on("session/request_permission", func(json.RawMessage) (any, *wireError) { return tc.answer, tc.err })
			id := c.open()
			require.Equal(t, "end_turn", c.prompt(id, "edit"))
			want, status := "one\n", "failed"
			if tc.edited {
				want, status = "two\n", "completed"
			}
			require.Equal(t, want, w.read(t, "/w/a.txt"))
			end := c.awaitUpdate(id, "the end of the call", func(u update) bool { return u.Status == "completed" || u.Status == "failed" })
			require.Equal(t, status, end.Status)
		})
	}
}

func TestRulesForTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a.txt", "one\n")
	w.models.Script("m",
		providertest.Reply{ToolCalls: []providertest.Call{edit("a.txt", "one", "two")}},
		providertest.Reply{ToolCalls: []providertest.Call{edit("a.txt", "two", "three")}}, providertest.Reply{Text: "Done."})
	c := w.connect(t, object{})
	asked := choose(c, "session")
	require.Equal(t, "end_turn", c.prompt(c.open(), "edit"))
	require.Equal(t, "three\n", w.read(t, "/w/a.txt"))
	require.Len(t, asked, 1, "the second call is like the first")
}

// Proves: ACP-03
func TestCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	defer close(hold)
	w.models.Script("m", providertest.Reply{Text: "A long long answer.", Hold: hold}, providertest.Reply{Text: "Again."})
	c := w.connect(t, object{})
	id := c.open()
	turn := c.say(id, text("talk"))
	c.awaitUpdate(id, "a piece of the answer", func(u update) bool { return u.Kind == "agent_message_chunk" })
	c.refused("session/prompt", object{"sessionId": id, "prompt": []any{text("more")}}, -32603, "already processing a prompt")
	c.notify("session/cancel", object{"sessionId": id})
	next := c.say(id, text("again")) // without waiting until the cancelled prompt has ended
	require.Equal(t, "cancelled", stopOf(t, c.answered(turn)))
	require.Equal(t, "end_turn", stopOf(t, c.answered(next)))
	require.Contains(t, words(c.updates(id), "agent_message_chunk"), "Again.")
	c.notify("session/cancel", object{"sessionId": id}) // no prompt is running
	c.notify("session/cancel", object{"sessionId": "no such session"})
	c.ok("session/list", object{})
}

// Proves: ACP-03
func TestCancelBeforeAPromptBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := make(chan struct{})
	defer close(before)
	w.models.Script("m", providertest.Reply{Text: "Never.", Before: before})
	c := w.connect(t, object{})
	id := c.open()
	turn := c.say(id, text("talk"))
	c.notify("session/cancel", object{"sessionId": id})
	require.Equal(t, "cancelled", stopOf(t, c.answered(turn)), "a cancel that comes right behind the prompt is not lost")
}

// Proves: ACP-03
func TestCancelWhilePermissionIsAsked(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"session/cancel", "$/cancel_request"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.file(t, "/w/a.txt", "one\n")
			w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{edit("a.txt", "one", "two")}})
			c := w.connect(t, object{})
			c.on("session/request_permission", func(json.RawMessage) (any, *wireError) { return nil, nil })
			id := c.open()
			turn := c.say(id, text("edit"))
			question := c.wait("the question", func(m message) bool { return m.Method == "session/request_permission" })
			c.notify(how, object{"sessionId": id, "requestId": json.RawMessage(turn)})
			taken := c.wait("the question is taken back", func(m message) bool { return m.Method == "$/cancel_request" })
			require.JSONEq(t, `{"requestId":`+string(question.ID)+`}`, string(taken.Params))
			require.Equal(t, "cancelled", stopOf(t, c.answered(turn)))
			c.awaitUpdate(id, "the call failed", func(u update) bool { return u.Status == "failed" })
			// The response arrives after all. It is ignored, and nothing is changed.
			c.raw(`{"jsonrpc":"2.0","id":` + string(question.ID) + `,"result":{"outcome":{"outcome":"selected","optionId":"once"}}}`)
			c.ok("session/close", object{"sessionId": id})
			require.Equal(t, "one\n", w.read(t, "/w/a.txt"))
		})
	}
}

// Proves: ACP-03
func TestHowTurnsEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.models.Script("m", providertest.Reply{Text: "Cut of", Stop: "length"}, providertest.Reply{Fault: providertest.BadKey}, providertest.Reply{Fault: providertest.NoCredit})
	c := w.connect(t, object{})
	id := c.open()
	require.Equal(t, "max_tokens", c.prompt(id, "talk"))
	e := c.refused("session/prompt", object{"sessionId": id, "prompt": []any{text("a")}}, -32000, "")
	require.Equal(t, "provider", e.Data.Kind)
	c.refused("session/prompt", object{"sessionId": id, "prompt": []any{text("b")}}, -32603, "")
}

func TestAPromptWithoutAModelOrKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model = ""
	w.models.sources = []provider.Source{{ID: "p", Ready: true, Kind: provider.ServiceSource}, {ID: "q", Ready: true, Kind: provider.LocalSource}}
	c := w.connect(t, object{})
	id := c.open()
	c.refused("session/prompt", object{"sessionId": id, "prompt": []any{text("a")}}, -32603, "Choose a model to start. Select one in the options of the session")

	w = newWorld(t)
	w.model = ""
	w.models.sources = []provider.Source{{ID: "p", Kind: provider.ServiceSource}, {ID: "offline", Ready: true, Kind: provider.DemoSource}}
	c = w.connect(t, object{})
	id = c.open()
	e := c.refused("session/prompt", object{"sessionId": id, "prompt": []any{text("a")}}, -32000, "No model can be used yet. Run 'xcsh-ls login' in a terminal")
	require.Equal(t, "provider", e.Data.Kind)

	w = newWorld(t)
	w.models.key = fault.New(fault.Provider, "No API key for p. Set P_API_KEY.").With("provider", "p")
	c = w.connect(t, object{})
	id = c.open()
	c.refused("session/prompt", object{"sessionId": id, "prompt": []any{text("a")}}, -32000, "No API key for p. Set P_API_KEY.")
	require.Empty(t, words(c.updates(id), "user_message_chunk"))
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for name, capabilities := range map[string]object{"notice": {"session": object{"notices": object{}}}, "thought": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.models.Script(
				"m", providertest.Reply{Fault: providertest.ServerError}, providertest.Reply{Fault: providertest.ServerError}, providertest.Reply{Text: "Now."},
				providertest.Reply{Fault: providertest.ServerError}, providertest.Reply{Text: "Now."},
			)
			c := w.connect(t, capabilities)
			id := c.open()
			require.Equal(t, "end_turn", c.prompt(id, "talk"))
			if name == "notice" {
				notice := c.awaitUpdate(id, "a notice", func(u update) bool { return u.Kind == "notice" })
				require.Equal(t, "warning", notice.Severity)
				require.Contains(t, notice.Title, "Retrying in")
				return
			}
			require.Equal(t, "end_turn", c.prompt(id, "talk more"))
			thoughts := map[string]string{}
			for _, u := range c.updates(id) {
				if u.Kind == "agent_thought_chunk" {
					thoughts[u.MessageID] += words([]update{u}, u.Kind)
				}
			}
			require.Len(t, thoughts, 2, "one per request, not per retry")
			for _, text := range thoughts {
				require.Regexp(t, `^Retrying in 1 s \(1 of 2\): `, text)
			}
		})
	}
}

// A turn that a limit ends is not a failure: the client gets the protocol's reason, and the user ours.
func TestALimitEndsTheTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.models.Script("m", providertest.Reply{ToolCalls: []providertest.Call{{Name: "read", Args: object{"path": "missing"}}}})
	c := w.connect(t, object{})
	id := c.open()
	require.Equal(t, "max_turn_requests", c.prompt(id, "read it"))
	require.Contains(t, words(c.updates(id), "agent_message_chunk"), "the same call of read failed 3 times")
}

func TestIDsThatServicesReuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a.txt", "one\n")
	call := func(old, text string) providertest.Call {
		e := edit("a.txt", old, text)
		e.ID = "call"
		return e
	}
	w.models.Script("m",
		providertest.Reply{ToolCalls: []providertest.Call{call("one", "two")}}, providertest.Reply{ToolCalls: []providertest.Call{call("two", "three")}},
		providertest.Reply{Text: "Done."})
	c := w.connect(t, object{})
	asked := choose(c, "once")
	id := c.open()
	require.Equal(t, "end_turn", c.prompt(id, "edit"))
	require.Equal(t, "three\n", w.read(t, "/w/a.txt"))
	var began []string
	for _, u := range c.updates(id) {
		if u.Kind == "tool_call" {
			began = append(began, u.CallID)
		}
	}
	require.Len(t, began, 2)
	require.NotEqual(t, began[0], began[1])
	for _, want := range began {
		var q struct {
			ToolCall update `json:"toolCall"`
		}
		require.NoError(t, json.Unmarshal(<-asked, &q))
		require.Equal(t, want, q.ToolCall.CallID, "each question is about its own call")
	}
}
