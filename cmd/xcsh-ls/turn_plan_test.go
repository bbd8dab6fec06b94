//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// planned writes a session of a program that ends with a plan, and returns its path.
func (m *machine) planned(program, tool, details string) string {
	lines, id := []string{}, "0190000000000001"
	if program == "omp" {
		id = "0199aaaa-0000-7000-8000-000000000001"
		lines = append(lines, `{"type":"title","v":1,"title":"","updatedAt":"2026-01-01T00:00:00.000Z","pad":"`+strings.Repeat(" ", 200)+`"}`)
	}
	path := filepath.Join(m.home, "."+program, "agent", "sessions", "--w--", "2026-01-01T00-00-00-000Z_"+id+".jsonl")
	work, _ := json.Marshal(m.work) // a string
	lines = append(
		lines,
		`{"type":"session","version":3,"id":"`+id+`","timestamp":"2026-01-01T00:00:00.000Z","cwd":`+string(work)+`}`,
		`{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"plan it","timestamp":1}}`,
		`{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"`+tool+
			`","arguments":{"i":"plan"}}],"provider":"fake","model":"m","stopReason":"toolUse","timestamp":1}}`,
		`{"type":"message","id":"cccccccc","parentId":"bbbbbbbb","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"`+tool+
			`","content":[{"type":"text","text":"ok"}],"details":`+details+`,"isError":false,"timestamp":1}}`,
	)
	m.write(path, strings.Join(lines, "\n")+"\n")
	return path
}

func callOf(name, args string) []providertest.Call {
	return []providertest.Call{{Name: name, Args: json.RawMessage(args)}}
}

// offered returns the names of the tools of a request.
func offered(r providertest.Request) (names []string) {
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

// A conversation of another program continues with its plan: it is shown, its tool has the name that it has there, calls may have an
// intent, and the result is one that the program reads.
func TestAConversationContinuesWithItsPlan(t *testing.T) {
	t.Parallel()
	for program, tc := range map[string]struct{ tool, other, details, call, want string }{
		"omp": {
			"todo", "todo_write", `{"op":"init","phases":[{"name":"Setup","tasks":[{"content":"read it","status":"in_progress"},{"content":"do it","status":"pending"}]}],"storage":"session"}`,
			`{"op":"done","task":"read it","i":"The first step is done"}`,
			`{"op":"done","phases":[{"name":"Setup","tasks":[{"content":"read it","status":"completed"},{"content":"do it","status":"in_progress"}]}],"storage":"session","completedTasks":[{"phase":"Setup","content":"read it"}]}`,
		},
		"xcsh": {
			"todo_write", "todo", `{"phases":[{"id":"phase-1","name":"Setup","tasks":[{"id":"task-1","content":"read it","status":"in_progress"},{"id":"task-2","content":"do it","status":"pending"}]}],"storage":"session"}`,
			`{"ops":[{"op":"update","id":"task-1","status":"completed"}],"_i":"The first step is done"}`,
			`{"phases":[{"id":"phase-1","name":"Setup","tasks":[{"id":"task-1","content":"read it","status":"completed"},{"id":"task-2","content":"do it","status":"in_progress"}]}],"storage":"session"}`,
		},
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, provider.OpenAICompletions)
			path := m.planned(program, tc.tool, tc.details)
			m.write(m.path("README.md"), "# Project\n")
			ask := `{"i":"Asking","questions":[{"id":"db","question":"Which database?","options":[{"label":"SQLite","description":"a file"},{"label":"PostgreSQL"}],"recommended":0}]}`
			m.Script("m",
				providertest.Reply{ToolCalls: callOf(tc.tool, tc.call)},
				providertest.Reply{ToolCalls: callOf("glob", `{"path":"*.md","i":"Listing"}`)},
				providertest.Reply{ToolCalls: callOf("read", `{"path":"README.md:1-1","i":"Reading"}`)},
				providertest.Reply{ToolCalls: callOf("ask", ask)},
				providertest.Reply{ToolCalls: callOf(tc.other, `{"op":"view"}`)},
				providertest.Reply{Text: "Done."})
			ed := m.opened(lsptest.Fields{"ui": lsptest.Fields{"hooks": true}})
			resume := ed.BeginExec("xcsh.resume", lsptest.Fields{"target": path})
			ed.WaitRequest(lsp.MethodBeforeSwitch).Reply(nil)
			_, failure := resume.Wait()
			require.Nil(t, failure)
			require.Contains(t, string(rawjson.Get(carry(t, ed, "xcsh.snapshot", nil), "todos")), `"status":"pending"`)

			turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go on"})
			request := ed.WaitRequest(lsp.MethodAsk)
			questions := string(rawjson.Get(carry(t, ed, "xcsh.snapshot", nil), "questions"))
			require.Contains(t, questions, `"title":"Which database?"`, "it waits like an approval")
			require.Contains(t, string(request.Params), `"question":"Which database?"`)
			request.Reply(json.RawMessage(`{"answers":[{"id":"db","selected":["SQLite"]}]}`))
			_, failure = turn.Wait()
			require.Nil(t, failure)

			reqs := m.Requests()
			require.Len(t, reqs, 6)
			names := offered(reqs[0])
			require.Contains(t, names, tc.tool)
			require.Contains(t, names, "ask")
			require.NotContains(t, names, tc.other)
			require.Contains(t, lastResult(t, reqs[1]), "Remaining items (1):")
			require.Equal(t, "README.md", lastResult(t, reqs[2]))
			require.Contains(t, lastResult(t, reqs[3]), "# Project")
			require.Equal(t, "User selected: SQLite", lastResult(t, reqs[4]))
			file := m.read(path)
			require.Contains(t, file, `"details":`+tc.want, "the program reads it")
			require.Contains(t, file, `"i":"Listing"`, "the intent stays in the record")
			require.Contains(t, file, `"details":{"question":"Which database?","options":["SQLite","PostgreSQL"],"multi":false,"selectedOptions":["SQLite"]}`)
			require.Contains(t, string(rawjson.Get(carry(t, ed, "xcsh.snapshot", nil), "todos")), `"status":"completed"`)
		})
	}
}

// Without anybody to ask, the model cannot ask. A question that nobody answers ends with the turn.
func TestAQuestionNeedsAUser(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.Script("m", providertest.Reply{Text: "Done."})
	code, _, stderr := m.run("run", "hello")
	require.Zero(t, code, stderr)
	names := offered(m.Requests()[0])
	require.NotContains(t, names, "ask")

	m = newMachine(t, provider.AnthropicMessages)
	m.Script("m", providertest.Reply{ToolCalls: callOf("ask", `{"questions":[{"id":"a","question":"Which?","options":[{"label":"x"},{"label":"y"}]}]}`)})
	ed := m.opened(nil)
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "ask me"})
	box := ed.WaitRequest("window/showMessageRequest")
	require.Contains(t, string(box.Params), `"message":"Which?"`)
	do(t, ed, "xcsh.abort")
	_, _ = turn.Wait()
	require.Contains(t, m.read(m.sessionFile()), "The user did not answer.")
}
