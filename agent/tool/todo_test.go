package tool_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/agent/todo"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// keeper keeps the plan of one session.
type keeper struct{ phases json.RawMessage }

func (k *keeper) Todos(context.Context) (todo.List, string, error) {
	return todo.Read(k.phases), "session", nil
}

// do makes a call and keeps the plan of its result, as a session does.
func (k *keeper) do(t *testing.T, tl tool.Tool, args string) tool.Result {
	t.Helper()
	checked, err := tl.Check(json.RawMessage(args))
	require.NoError(t, err)
	r, err := tl.RunWithin(t.Context(), tool.Env{CallID: "c1"}, checked)
	require.NoError(t, err)
	m := new(rawjson.Object).String("role", "toolResult").String("toolName", tl.Name).Raw("details", r.Details)
	if r.IsError {
		m.Raw("isError", []byte("true"))
	}
	if phases, ok := todo.Of(m.Bytes()); ok {
		k.phases = phases
	}
	return r
}

func elements(list []byte) (all []string) {
	rawjson.Elements(list, func(e []byte) bool {
		all = append(all, string(e))
		return true
	})
	return all
}

func textOf(r tool.Result) string { return r.Content[0].Text }

// The results are those that oh-my-pi recorded for the same calls, byte for byte.
func TestPlansAndAnswersAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/programs/omp.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var k keeper
	tools := map[string]tool.Tool{
		"todo": tool.NewTodo(&k),
		"ask": tool.NewAsk(func(_ context.Context, f asking.Form) (asking.Answers, error) {
			return asking.Answers{List: []asking.Answer{{ID: f.Fields[0].ID, Selected: []string{f.Fields[0].Options[0].Label}}}}, nil
		}, false),
	}
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); n++ {
		line := lines.Bytes()
		name, _ := rawjson.GetString(line, "tool")
		r := k.do(t, tools[name], string(rawjson.Get(line, "arguments")))
		content, err := json.Marshal(r.Content)
		require.NoError(t, err)
		require.JSONEq(t, string(rawjson.Get(line, "content")), string(content))
		require.Equal(t, string(rawjson.Get(line, "details")), string(r.Details))
		require.False(t, r.IsError)
	}
	require.Equal(t, 3, n)
}

func TestTheOperationsOfAPlan(t *testing.T) {
	t.Parallel()
	var k keeper
	tl := tool.NewTodo(&k)
	phases := func() string { return string(k.phases) }

	r := k.do(t, tl, `{"op":"view"}`)
	require.Equal(t, "Todo list is empty.", textOf(r))
	require.Empty(t, k.phases, "a view is no plan")

	k.do(t, tl, `{"items":["a"],"i":"begin"}`) // the operation is clear
	require.Equal(t, `[{"name":"Tasks","tasks":[{"content":"a","status":"in_progress"}]}]`, phases())
	k.do(t, tl, `{"op":"append","phase":"Later","items":["b","c"]}`)
	k.do(t, tl, `{"op":"block","task":"a","reason":"the\n  review"}`)
	require.Equal(t, `[{"name":"Tasks","tasks":[{"content":"a","status":"blocked","blocker":"the review"}]},`+
		`{"name":"Later","tasks":[{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]}]`, phases(), "one task is active")
	k.do(t, tl, `{"op":"start","task":"c"}`)
	r = k.do(t, tl, `{"op":"done","task":"c"}`)
	require.Equal(t, "Remaining items (1):\n  - b [in_progress] (Later)\nOverall: 1/3 done, 1 open, 1 blocked.\nActive phase 2/2 \"Later\" (1/2).\n"+
		"  Tasks:\n    - [ ] a (blocked: the review)\n  Later:\n    - [ ] b (in progress)\n    - [X] c", textOf(r))
	require.Equal(t, `[{"phase":"Later","content":"c"}]`, string(rawjson.Get(r.Details, "completedTasks")))
	k.do(t, tl, `{"op":"unblock","phase":"Tasks"}`)
	r = k.do(t, tl, `{"op":"drop"}`)
	require.Contains(t, textOf(r), "Remaining items (0 open + 2 dropped):")
	require.Contains(t, textOf(r), "    - [ ] a (dropped)")

	before := phases()
	for args, want := range map[string]string{
		`{"op":"done","task":"x"}`:      `Errors: Task "x" not found`,
		`{"op":"done","task":"task-1"}`: `Errors: Task "task-1" not found. Name a task by its full text`,
		`{"op":"done","phase":"x"}`:     `Errors: Phase "x" not found`,
		`{"op":"start"}`:                `Errors: Missing task content`,
		`{"op":"block"}`:                `Errors: block requires a task or phase target`,
		`{"op":"init"}`:                 `Errors: Missing list for init operation`,
		`{"op":"append","phase":"Later","items":["b","d","d"]}`:                          `Errors: Task "b" already exists; Task "d" already exists`,
		`{"op":"init","list":[{"phase":"p","items":["x"]},{"phase":"p","items":["x"]}]}`: `Errors: Duplicate phase "p" in init list; Duplicate task "x" in init list`,
	} {
		r := k.do(t, tl, args)
		require.True(t, r.IsError, args)
		require.Contains(t, textOf(r), want)
		require.Equal(t, before, phases(), "an error changes nothing")
	}
	_, err := tl.Check(json.RawMessage(`{"op":"finish"}`))
	require.ErrorContains(t, err, "todo: op must be one of init, start, done")
	_, err = tl.RunWithin(t.Context(), tool.Env{}, json.RawMessage(`{"task":"b"}`))
	require.ErrorContains(t, err, `todo needs the parameter "op"`)
}

func TestXcshWritesItsPlan(t *testing.T) {
	t.Parallel()
	var k keeper
	tl := tool.NewTodoWrite(&k)
	r := k.do(t, tl, `{"_i":"plan","ops":[{"op":"replace","phases":[{"name":"Setup","tasks":[{"content":"read it","details":"main.go\nat the top"},{"content":"do it","notes":"n"}]}]}]}`)
	require.Equal(t, "Remaining items (2):\n  - task-1 read it [in_progress] (Setup)\n      main.go\n      at the top\n  - task-2 do it [pending] (Setup)\n"+
		"Phase 1/1 \"Setup\" — 0/2 tasks complete\n  Setup:\n    → task-1 read it\n    ○ task-2 do it", textOf(r))
	require.Equal(t, `{"phases":[{"id":"phase-1","name":"Setup","tasks":[{"id":"task-1","content":"read it","status":"in_progress","details":"main.go\nat the top"},`+
		`{"id":"task-2","content":"do it","status":"pending","notes":"n"}]}],"storage":"session"}`, string(r.Details))
	k.do(t, tl, `{"ops":[{"op":"update","id":"task-1","status":"completed"},{"op":"add_phase","name":"Later"},{"op":"add_task","phase":"phase-2","content":"more"}]}`)
	r = k.do(t, tl, `{"ops":[{"op":"remove_task","id":"task-2"},{"op":"update","id":"task-9","content":"x"}]}`)
	require.False(t, r.IsError, "xcsh keeps the operations without an error")
	require.Equal(t, "Errors: Task \"task-9\" not found\nRemaining items (1):\n  - task-3 more [in_progress] (Later)\n"+
		"Phase 2/2 \"Later\" — 0/1 tasks complete\n  Setup:\n    ✓ task-1 read it\n  Later:\n    → task-3 more", textOf(r))

	// The plan continues with the other program's tool, and back.
	r = k.do(t, tool.NewTodo(&k), `{"op":"block","task":"task-3","reason":"a review"}`)
	require.False(t, r.IsError)
	require.Equal(t, `[{"name":"Setup","tasks":[{"content":"read it","status":"completed"}]},{"name":"Later","tasks":[{"content":"more","status":"blocked","blocker":"a review"}]}]`, string(k.phases))
	k.do(t, tl, `{"ops":[]}`)
	require.Equal(t, `[{"id":"phase-1","name":"Setup","tasks":[{"id":"task-1","content":"read it","status":"completed"}]},`+
		`{"id":"phase-2","name":"Later","tasks":[{"id":"task-2","content":"more","status":"in_progress","notes":"Blocked: a review"}]}]`, string(k.phases))

	for args, want := range map[string]string{
		`{"ops":[{"op":"init"}]}`:                                                 "todo_write: op must be one of",
		`{"ops":[{"op":"replace"}]}`:                                              `todo_write: replace needs "phases".`,
		`{"ops":[{"op":"add_task","phase":"phase-1"}]}`:                           `todo_write: add_task needs "content".`,
		`{"ops":[{"op":"update"}]}`:                                               `todo_write: update needs "id".`,
		`{"ops":[{"op":"update","id":"task-1","status":"finished"}]}`:             "todo_write: status must be pending",
		`{"ops":[{"op":"add_phase","name":"x","tasks":[{"content":"c","x":1}]}]}`: "todo_write has no parameter",
	} {
		_, err := tl.Check(json.RawMessage(args))
		require.ErrorContains(t, err, want, args)
	}
	k.do(t, tl, `{"ops":[{"op":"replace","phases":[]}]}`)
	require.Equal(t, `[]`, string(k.phases))
}

// A session file can hold anything.
func TestAHostilePlanIsReadInPart(t *testing.T) {
	t.Parallel()
	many := `[{"name":"p","tasks":[` + strings.TrimSuffix(strings.Repeat(`{"content":"x","status":"pending"},`, 5000), ",") + `]}]`
	k := keeper{phases: json.RawMessage(many)}
	r := k.do(t, tool.NewTodo(&k), `{"op":"append","phase":"p","items":["y"]}`)
	require.True(t, r.IsError)
	require.Contains(t, textOf(r), "A todo list has at most 1000 tasks")
	for _, phases := range []string{`{}`, `[1,null,{"tasks":5},{"name":7,"tasks":[{"content":5},{"status":"x"},{"content":"ok","status":7}]}]`} {
		k := keeper{phases: json.RawMessage(phases)}
		k.do(t, tool.NewTodo(&k), `{"op":"append","phase":"p","items":["y"]}`)
		require.Contains(t, string(k.phases), `"content":"y"`)
	}
}

func TestAnswersOfSeveralQuestions(t *testing.T) {
	t.Parallel()
	answers := []asking.Answer{{ID: "a", Selected: []string{"x"}}, {ID: "b", Selected: []string{"1", "2"}, Custom: "3"}, {ID: "q3", Custom: "own"}, {ID: "d", Selected: []string{}}}
	args := `{"i":"ask","questions":[{"id":"a","question":"A?","options":["x",{"label":"y"}]},{"id":"b","question":"B?","options":[{"label":"1"},{"label":"2"}],"multi":true},` +
		`{"question":"C?","options":[]},{"id":"d","question":"D?","options":[{"label":"z"}],"multi":true}]}`
	var k keeper
	for xcsh, want := range map[bool]string{
		false: "User answers:\na: x\nb: \"3\"\nq3: \"own\"\nd: []",
		true:  "User answers:\na: x\nb: [1, 2], \"3\"\nq3: \"own\"\nd: []",
	} {
		var asked asking.Form
		r := k.do(t, tool.NewAsk(func(_ context.Context, f asking.Form) (asking.Answers, error) {
			asked = f
			return asking.Answers{List: answers}, nil
		}, xcsh), args)
		require.Equal(t, want, textOf(r))
		require.Equal(t, "c1", asked.ID)
		require.Len(t, asked.Fields, 4)
		require.Equal(t, `{"id":"b","question":"B?","options":["1","2"],"multi":true,"selectedOptions":["1","2"],"customInput":"3"}`, elements(rawjson.Get(r.Details, "results"))[1])
	}
	closed := tool.NewAsk(func(context.Context, asking.Form) (asking.Answers, error) {
		return asking.Answers{Cancelled: true}, nil
	}, false)
	r := k.do(t, closed, args)
	require.True(t, r.IsError)
	require.Equal(t, "The user did not answer.", textOf(r))
	for bad, want := range map[string]string{
		`{"questions":[]}`: "ask needs at least one question.",
		`{"questions":[{"id":"a","question":"?","options":[]},{"id":"a","question":"?","options":[]}]}`: `ask: two questions have the id "a".`,
		`{"questions":"["}`: "the string is not valid JSON",
	} {
		_, err := closed.Check(json.RawMessage(bad))
		require.ErrorContains(t, err, want)
	}
}
