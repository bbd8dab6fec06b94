package acp_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// Proves: ACP-02
func TestSessionContinues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(t, "/w/a.txt", "one\n")
	w.models.Script("m",
		providertest.Reply{Thinking: "Hm.", Text: "I edit it.", ToolCalls: []providertest.Call{edit("a.txt", "one", "two")}}, providertest.Reply{Text: "Done."},
		providertest.Reply{Text: "And on."})
	c := w.connect(t, object{})
	choose(c, "once")
	id := c.open()
	c.prompt(id, "edit it")
	c.ok("session/close", object{"sessionId": id})
	c.refused("session/prompt", object{"sessionId": id, "prompt": []any{text("x")}}, -32002, "is not open")

	c = w.connect(t, object{})
	loading := c.send("session/load", object{"sessionId": id, "cwd": "/w", "mcpServers": []any{}})
	answer := c.answered(loading)
	require.Nil(t, answer.Error, answer.line)
	var replayed []update
	for _, m := range c.seen() {
		if string(m.ID) == loading {
			break
		}
		if u, ok := updateIn(m, id); ok {
			replayed = append(replayed, u)
		}
	}
	assert.Equal(t, "edit it", words(replayed, "user_message_chunk"))
	assert.Equal(t, "Hm.", words(replayed, "agent_thought_chunk"))
	assert.Equal(t, "I edit it.Done.", words(replayed, "agent_message_chunk"), "all of it before the answer")
	var kinds, statuses []string
	for _, u := range replayed {
		kinds = append(kinds, u.Kind)
		if u.CallID != "" {
			statuses = append(statuses, u.Status)
		}
		if u.Status == "completed" {
			shown := contents(t, u.Content)
			require.Equal(t, "diff", shown[0].Type)
			require.Equal(t, "one\n", *shown[0].OldText)
			require.Equal(t, "two\n", shown[0].NewText)
		}
	}
	assert.Equal(t, []string{"user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk"}, kinds)
	assert.Equal(t, []string{"pending", "completed"}, statuses)
	require.Equal(t, "end_turn", c.prompt(id, "go on"))
	requests := w.models.Requests()
	require.Len(t, requests[len(requests)-1].Messages, 5, "the model gets the earlier messages")
}

// Proves: ACP-02
func TestResumeReplaysNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	w.models.Script("m", providertest.Reply{Text: "And on."})
	c := w.connect(t, object{})
	result := c.ok("session/resume", object{"sessionId": id1, "cwd": "/w"})
	require.NotContains(t, result, "sessionId")
	require.Contains(t, result, "modes")
	c.awaitUpdate(id1, "the usage", func(u update) bool { return u.Kind == "usage_update" })
	for _, u := range c.updates(id1) {
		require.NotContains(t, u.Kind, "chunk")
	}
	require.Equal(t, "end_turn", c.prompt(id1, "go on"))
	require.Len(t, w.models.Requests()[0].Messages, 3)
	require.Contains(t, w.read(t, file1), "And on.", "it is the same file")
}

func TestLoadingAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	hold := make(chan struct{})
	w.models.Script("m", providertest.Reply{Text: "Slow answer.", Hold: hold})
	c := w.connect(t, object{})
	load := object{"sessionId": id1, "cwd": "/w", "mcpServers": []any{}}
	c.ok("session/load", load)
	c.ok("session/load", load)
	require.Equal(t, "oneone", words(c.updates(id1), "user_message_chunk"), "the same session is listed again")
	turn := c.say(id1, text("go on"))
	c.awaitUpdate(id1, "a piece", func(u update) bool {
		return u.Kind == "agent_message_chunk" && strings.Contains(string(u.Content), "Slow")
	})
	c.refused("session/load", load, -32603, "Wait for the current response")
	close(hold)
	require.Equal(t, "end_turn", stopOf(t, c.answered(turn)))
}

func TestSessionsThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	w.file(t, "/w/file", "")
	require.NoError(t, w.fs.MkdirAll("/v", 0o755))
	c := w.connect(t, object{})
	for _, method := range []string{"session/load", "session/resume", "session/fork"} {
		for _, id := range []string{"", "no such", id1[:8], file1, "../x.jsonl"} {
			c.refused(method, object{"sessionId": id, "cwd": "/w", "mcpServers": []any{}}, -32002, "not found")
		}
		for _, cwd := range []any{"", "w", "/none", "/w/file", "/w\x00"} {
			e := c.refused(method, object{"sessionId": id1, "cwd": cwd}, -32602, "")
			require.Equal(t, "cwd", e.Data.Field)
		}
	}
	e := c.refused("session/load", object{"sessionId": id1, "cwd": "/v"}, -32602, `Session "`+id1+`" is in another project (/w).`)
	require.Equal(t, "otherProject", e.Data.Kind)
	c.refused("session/new", object{"cwd": "relative"}, -32602, `"relative" is not an absolute path.`)
	c.refused("session/new", object{}, -32602, "is not an absolute path.")
	c.refused("session/close", object{"sessionId": id1}, -32002, "is not open")
	w.file(t, file1, "not a session\n")
	c.refused("session/load", object{"sessionId": id1, "cwd": "/w"}, -32603, "")
}

// Proves: ACP-02
func TestSeveralSessionsInOneFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	w.models.Script("m", providertest.Reply{Text: "The first answer.", Hold: hold}, providertest.Reply{Text: "The second."})
	c := w.connect(t, object{})
	first, second := c.open(), c.open()
	require.NotEqual(t, first, second)
	turn := c.say(first, text("one"))
	c.awaitUpdate(first, "a piece", func(u update) bool { return u.Kind == "agent_message_chunk" })
	require.Equal(t, "end_turn", c.prompt(second, "two"), "one session does not wait for the other")
	close(hold)
	require.Equal(t, "end_turn", stopOf(t, c.answered(turn)))
	require.Equal(t, "The first answer.", words(c.updates(first), "agent_message_chunk"))
	require.Equal(t, "The second.", words(c.updates(second), "agent_message_chunk"))
	c.ok("session/close", object{"sessionId": first})
	c.ok("session/close", object{"sessionId": second})
	files, err := afero.ReadDir(w.fs, sessions)
	require.NoError(t, err)
	require.Len(t, files, 2)
}

// Proves: ACP-02
func TestListing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	for i := range 60 {
		id := fmt.Sprintf("01900000000001%02d", i)
		w.file(t, agentDir+"/sessions/--v--/2026-01-01T00-00-00-000Z_"+id+".jsonl",
			st.File(st.Header(id, "/v"), st.User("aaaaaaaa", "", "of v"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two")))
	}
	c := w.connect(t, object{})
	in := c.ok("session/list", object{"cwd": "/w"})["sessions"].([]any)
	require.Len(t, in, 1)
	one := in[0].(object)
	require.Equal(t, []any{id1, "/w", "one"}, []any{one["sessionId"], one["cwd"], one["title"]})
	require.Contains(t, one, "updatedAt")
	seen := map[any]bool{}
	params := object{}
	for range 2 {
		page := c.ok("session/list", params)
		for _, s := range page["sessions"].([]any) {
			seen[s.(object)["sessionId"]] = true
		}
		params = object{"cursor": page["nextCursor"]}
	}
	require.Nil(t, params["cursor"], "the second page is the last")
	require.Len(t, seen, 61)
	require.Empty(t, c.ok("session/list", object{"cwd": "/none"})["sessions"])
	c.refused("session/list", object{"cursor": "x"}, -32602, "is not a cursor")
	c.refused("session/list", object{"cwd": "w"}, -32602, "is not an absolute path")
	c.refused("session/list", object{"cwd": 5}, -32602, `the parameter "cwd" has the wrong type`)
}

// Proves: ACP-02
func TestDeleting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	content := w.read(t, file1)
	c := w.connect(t, object{})
	c.ok("session/load", object{"sessionId": id1, "cwd": "/w"})
	c.ok("session/delete", object{"sessionId": id1})
	gone, err := afero.Exists(w.fs, file1)
	require.NoError(t, err)
	require.False(t, gone)
	require.Empty(t, c.ok("session/list", object{})["sessions"])
	c.refused("session/prompt", object{"sessionId": id1, "prompt": []any{text("x")}}, -32002, "is not open")
	c.ok("session/delete", object{"sessionId": id1})
	c.ok("session/delete", object{"sessionId": "never was"})
	kept := false
	require.NoError(t, afero.Walk(w.fs, "/", func(path string, info fs.FileInfo, err error) error {
		kept = kept || err == nil && info.Mode().IsRegular() && w.read(t, path) == content
		return err
	}))
	require.True(t, kept, "deleted sessions can be restored")
}

// Proves: ACP-02
func TestForking(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	w.models.Script("m", providertest.Reply{Text: "And on."}, providertest.Reply{Text: "Here, too."})
	c := w.connect(t, object{})
	fork := c.ok("session/fork", object{"sessionId": id1, "cwd": "/w"})["sessionId"].(string)
	require.NotEqual(t, id1, fork)
	before := w.read(t, file1)
	require.Equal(t, "end_turn", c.prompt(fork, "go on"))
	require.Equal(t, before, w.read(t, file1), "the source stays as it is")

	c.ok("session/load", object{"sessionId": id1, "cwd": "/w"})
	require.Equal(t, "end_turn", c.prompt(id1, "/fork"))
	require.Contains(t, words(c.updates(id1), "agent_message_chunk"), "Forked to session ")
	require.Equal(t, "end_turn", c.prompt(id1, "go on"))
	require.Len(t, c.ok("session/list", object{"cwd": "/w"})["sessions"], 3)
	c.refused("session/fork", object{"sessionId": c.open(), "cwd": "/w"}, -32603, "the session has no answer yet")
}

func TestHooksCanVeto(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.talk(t)
	w.hooks = []hook.Hook{refusing{}}
	c := w.connect(t, object{})
	e := c.refused("session/load", object{"sessionId": id1, "cwd": "/w"}, -32800, "not today")
	require.Equal(t, "cancelled", e.Data.Kind)
	c.open()
}

// refusing is a hook that refuses every change of session.
type refusing struct{}

func (refusing) Before(_ context.Context, e hook.Event) (hook.Decision, error) {
	return hook.Decision{Cancel: e.Name == hook.BeforeSwitch, By: "guard", Reason: "not today"}, nil
}

func (refusing) After(context.Context, hook.Event) {}

// Proves: ACP-04
func TestReplayOfEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	message := func(id, parent, m string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:00.000Z","message":%s}`, id, parent, m)
	}
	w.talk(t,
		message("c1", "bbbbbbbb", `{"role":"user","content":[{"type":"text","text":"see "},{"type":"image","mimeType":"image/png","data":"AAAA"}]}`),
		message("c2", "c1", `{"role":"assistant","content":[{"type":"toolCall","id":"t1","name":"write","arguments":{"path":"n.txt","content":"new\n"}},{"type":"toolCall","id":"t2","name":"bash","arguments":{"command":"ls  -l"}},{"type":"toolCall","id":"t3","name":"odd","arguments":{}}],"stopReason":"toolUse"}`),
		message("c3", "c2", `{"role":"toolResult","toolCallId":"t1","toolName":"write","content":[{"type":"text","text":"ok"}],"isError":false}`),
		message("c4", "c3", `{"role":"toolResult","toolCallId":"t2","toolName":"bash","content":[{"type":"text","text":"no"}],"isError":true}`),
		message("c5", "c4", `{"role":"bashExecution","command":"make","output":"built","exitCode":0}`),
		`{"type":"compaction","id":"c6","parentId":"c5","timestamp":"2026-01-01T00:00:00.000Z","summary":"the summary","firstKeptEntryId":"c5","tokensBefore":5}`,
		message("c7", "c6", `{"role":"toolResult","toolCallId":"t9","toolName":"todo_write","content":[],"details":{"phases":[{"name":"p","tasks":[{"content":"first","status":"completed"},{"content":"second","status":"in_progress"},{"content":"third","status":"what"},{"content":"left","status":"abandoned"}]}]},"isError":false}`),
		`{"type":"custom_message","id":"c8","parentId":"c7","timestamp":"2026-01-01T00:00:00.000Z","customType":"x","content":"shown","display":true}`,
		`{"type":"label","id":"c9","parentId":"c8","timestamp":"2026-01-01T00:00:00.000Z","targetId":"c8","label":"l"}`,
		message("d1", "bbbbbbbb", `{"role":"user","content":"on another branch"}`),
		message("d2", "c9", `{"role":"assistant","content":[{"type":"text","text":"last `+"\xff"+`"}],"stopReason":"error","errorMessage":"It broke."}`))
	for _, compaction := range []bool{false, true} {
		capabilities := object{}
		if compaction {
			capabilities = object{"session": object{"compaction": object{}}}
		}
		c := w.connect(t, capabilities)
		c.ok("session/load", object{"sessionId": id1, "cwd": "/w"})
		all := c.updates(id1)
		assert.Equal(t, "onesee ", words(all, "user_message_chunk"))
		assert.Equal(t, "twoshownlast \uFFFD\n\nIt broke.", words(all, "agent_message_chunk"), "messages before the compaction, too")
		status, content := map[string]string{}, map[string]string{}
		var image, plan, summary bool
		for _, u := range all {
			image = image || u.Kind == "user_message_chunk" && strings.Contains(string(u.Content), `"image/png"`)
			summary = summary || u.Kind == "compaction_update" && u.Summary[0]["text"] == "the summary"
			if u.Kind == "plan" {
				plan = true
				assert.Equal(t, []object{
					{"content": "first", "priority": "medium", "status": "completed"},
					{"content": "second", "priority": "medium", "status": "in_progress"},
					{"content": "third", "priority": "medium", "status": "pending"},
				}, u.Entries)
			}
			if u.CallID != "" {
				key := u.CallID[strings.LastIndexByte(u.CallID, '-')+1:]
				status[key] = u.Status
				content[key] += string(u.Content)
			}
		}
		assert.True(t, image)
		assert.True(t, plan)
		assert.Equal(t, compaction, summary)
		assert.Equal(t, !compaction, strings.Contains(words(all, "agent_thought_chunk"), "the summary"))
		assert.Equal(t, map[string]string{"t1": "completed", "t2": "failed", "t3": "failed", "c5": "completed", "t9": "completed"}, status)
		assert.Contains(t, content["t1"], `"newText":"new\n"`)
		assert.NotContains(t, content["t1"], "oldText")
		assert.Contains(t, content["c5"], "built")
	}
}

// The plan is the one that the user of oh-my-pi changed last.
func TestReplayOfAPlanThatTheUserChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const uuid = "019ce210-7893-7fb8-9a3d-1e601c115a0b"
	w.file(t, strings.Replace(file1, id1, uuid, 1), st.File(
		`{"type":"title","v":1,"title":"","updatedAt":"2026-01-01T00:00:00.000Z","pad":" "}`, st.Header(uuid, "/w"),
		st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"),
		`{"type":"custom","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:00.000Z","customType":"user_todo_edit","data":{"phases":[{"name":"p","tasks":[{"content":"swim","status":"pending"}]}]}}`))
	c := w.connect(t, object{})
	c.ok("session/load", object{"sessionId": uuid, "cwd": "/w"})
	var plans [][]object
	for _, u := range c.updates(uuid) {
		if u.Kind == "plan" {
			plans = append(plans, u.Entries)
		}
	}
	require.Equal(t, [][]object{{{"content": "swim", "priority": "medium", "status": "pending"}}}, plans)
}

func TestAClientThatSendsServersAndDirectories(t *testing.T) {
	t.Parallel()
	c := newWorld(t).connect(t, object{})
	result := c.ok("session/new", object{
		"cwd": "/w", "additionalDirectories": []any{"/v"}, "_meta": object{"x": 1}, "unknown": true,
		"mcpServers": []any{object{"name": "m", "command": "/bin/m", "args": []any{}, "env": []any{}}},
	})
	require.NotEmpty(t, result["sessionId"])
}

// Proves: ACP-05
func TestTheSessionIsUsedWithoutItsProtocol(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.models.Script("m", providertest.Reply{Text: "Hello."})
	c := w.connect(t, object{})
	id := c.open()
	c.prompt(id, "hi")
	c.ok("session/close", object{"sessionId": id})
	files, err := afero.ReadDir(w.fs, sessions)
	require.NoError(t, err)
	require.Len(t, files, 1)
	doc, err := w.store.Load(sessions + "/" + files[0].Name())
	require.NoError(t, err)
	defer doc.Close()
	require.Equal(t, id, doc.Header().ID)
	require.Equal(t, "/w", doc.Header().Cwd)
	require.Empty(t, doc.Problems())
	var roles []string
	for i := range doc.Len() {
		if role := doc.Role(i); role != "" {
			roles = append(roles, role)
		}
	}
	require.Equal(t, []string{"user", "assistant"}, roles)
}
