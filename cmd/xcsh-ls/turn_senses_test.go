package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/senses"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// announcing are the options of a client that answers requests about code.
func announcing(requests ...string) lsptest.Fields {
	return lsptest.Fields{"approval": "auto-edit", "ui": lsptest.Fields{"hooks": true, "editor": requests}}
}

// lspCall is a call of the tool lsp.
func lspCall(args ...string) providertest.Reply {
	a := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		a[args[i]] = args[i+1]
	}
	return providertest.Reply{ToolCalls: calls("lsp", a)}
}

// at is a position of the protocol.
func at(line, character int) lsptest.Fields {
	return lsptest.Fields{"line": line, "character": character}
}

// part is a range of the protocol within a line.
func part(line, from, to int) lsptest.Fields {
	return lsptest.Fields{"start": at(line, from), "end": at(line, to)}
}

// hasTool reports whether a request offers a tool.
func hasTool(r providertest.Request, name string) bool {
	return strings.Contains(string(r.Body), `"name":"`+name+`"`)
}

// The tool is there for a client that announces what it answers, with the actions that it announces. The column of a
// symbol is that in the unsaved text.
func TestLanguageServersOfTheEditor(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	path, other := m.path("main.go"), m.path("lib/lib.go")
	m.write(path, "package main\n\nfunc main() { run() }\n")
	m.write(other, "package lib\n\nfunc Run() {}\n")
	m.Script(
		"m", lspCall("action", "definition", "file", "main.go", "line", "3", "symbol", "run"),
		lspCall("action", "hover", "file", "main.go", "line", "3"), lspCall("action", "diagnostics", "i", "Look"), providertest.Reply{Text: "Done."},
	)
	ed := m.edit(announcing("definition", "diagnostics", "brew"))
	ed.Open(path, "package main\n\nfunc main() { /* 😀 */ run() }\n")
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "look"})

	request := ed.WaitRequest(lsp.MethodEditor + senses.Definition)
	var p senses.PlaceParams
	require.NoError(t, json.Unmarshal(request.Params, &p))
	require.Equal(t, senses.PlaceParams{URI: lsptest.URI(path), Position: senses.Position{Line: 2, Character: 23}}, p, "in UTF-16 units")
	request.Reply([]any{lsptest.Fields{"uri": lsptest.URI(other), "range": part(2, 5, 8)}})

	request = ed.WaitRequest(lsp.MethodEditor + senses.Diagnostics)
	require.JSONEq(t, `{"settleMs":1500}`, string(request.Params))
	request.Reply(lsptest.Fields{"documents": []any{lsptest.Fields{"uri": lsptest.URI(other), "items": []any{
		lsptest.Fields{"range": part(2, 5, 8), "severity": 2, "message": "unused", "source": "lint"},
		lsptest.Fields{"range": part(0, 0, 7), "severity": 1, "message": "broken", "code": "E1"},
	}}}})
	_, failure := turn.Wait()
	require.Nil(t, failure)
	reqs := m.Requests()
	require.Len(t, reqs, 4)
	require.True(t, hasTool(reqs[0], "lsp"))
	require.Contains(t, string(reqs[0].Body), `"enum":["diagnostics","definition","status"]`)
	require.Equal(t, "Found 1 definition:\n  lib/lib.go:3:6\n    func Run() {}", lastResult(t, reqs[1]))
	require.Equal(t, `The user's editor can't be asked for "hover". It can be asked for diagnostics, definition, status.`, lastResult(t, reqs[2]))
	require.Equal(t, "1 error, 1 warning:\nlib/lib.go:1:1 [error] broken (E1)\nlib/lib.go:3:6 [warning] [lint] unused", lastResult(t, reqs[3]))
	require.Contains(t, m.read(m.sessionFile()), `"details":{"action":"definition","success":true,"request":{"action":"definition","file":"main.go","line":3,"symbol":"run"}}`)
}

// A client that announces nothing has no such tool, and its edits ask nothing.
func TestEditorsWithoutLanguageServers(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.Script("m", providertest.Reply{ToolCalls: calls("write", map[string]any{"path": "a.go", "content": "package a\n"})}, providertest.Reply{Text: "Done."})
	ed := m.edit(announcing())
	_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "go"})
	require.Nil(t, failure)
	require.False(t, hasTool(m.Requests()[0], "lsp"))
	requireNotAsked(t, ed)
}

// requireNotAsked requires that the client got no request about code.
func requireNotAsked(t *testing.T, ed *lsptest.Editor) {
	t.Helper()
	require.False(t, slices.ContainsFunc(ed.Messages(), func(m *lsptest.Message) bool { return strings.HasPrefix(m.Method, lsp.MethodEditor) }))
}

// The result of an edit gets the errors that the file did not have before.
func TestNewErrorsAfterAnEdit(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	path := m.path("main.go")
	m.write(path, "package main\n")
	broken := func(line int, message string) lsptest.Fields {
		return lsptest.Fields{"range": part(line, 0, 4), "severity": 1, "message": message}
	}
	m.Script(
		"m", providertest.Reply{ToolCalls: calls("edit", map[string]any{"path": "main.go", "edits": []any{map[string]any{"oldText": "main", "newText": "main\n\nvar a = x"}}})},
		providertest.Reply{ToolCalls: calls("write", map[string]any{"path": "main.go", "content": "package main\n"})},
		providertest.Reply{Text: "Done."},
	)
	ed := m.edit(announcing("diagnostics"))
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
	answer := func(items ...any) {
		request := ed.WaitRequest(lsp.MethodEditor + senses.Diagnostics)
		require.Contains(t, string(request.Params), lsptest.URI(path))
		request.Reply(lsptest.Fields{"documents": []any{lsptest.Fields{"uri": lsptest.URI(path), "items": items}}})
	}
	answer(broken(0, "old"))
	answer(broken(2, "undefined:\n x"), broken(2, "old"), lsptest.Fields{"range": part(2, 0, 1), "severity": 2, "message": "unused"}, broken(3, "missing return"))
	answer(broken(2, "undefined: x"))
	answer()
	_, failure := turn.Wait()
	require.Nil(t, failure)
	reqs := m.Requests()
	require.Equal(t, "Successfully replaced 1 block in main.go.2 new problems: main.go:3 undefined: x; main.go:4 missing return", strings.ReplaceAll(lastResult(t, reqs[1]), "\n", ""))
	require.NotContains(t, lastResult(t, reqs[2]), "problem")
	require.NotContains(t, string(reqs[2].Body), "firstChangedLine\\\":1,\\\"diagnostics", "the details stay as they are")
}

// The setting turns the errors after edits off, and nothing is asked.
func TestEditsWithoutDiagnostics(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.Script("m", providertest.Reply{ToolCalls: calls("write", map[string]any{"path": "a.go", "content": "package a\n"})}, providertest.Reply{Text: "Done."})
	options := announcing("diagnostics")
	options["diagnosticsAfterEdit"] = false
	ed := m.edit(options)
	_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "go"})
	require.Nil(t, failure)
	require.True(t, hasTool(m.Requests()[0], "lsp"))
	requireNotAsked(t, ed)
}

// A request that the client turns out not to know is not repeated, and its action disappears.
func TestRequestsThatTheEditorDoesNotKnow(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.write(m.path("a.go"), "package a\n")
	m.Script(
		"m", lspCall("action", "hover", "file", "a.go", "line", "1"), lspCall("action", "hover", "file", "a.go", "line", "1"), providertest.Reply{Text: "Done."},
		lspCall("action", "status"), providertest.Reply{Text: "Done."},
	)
	ed := m.edit(announcing("hover", "symbols"))
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "look"})
	ed.WaitRequest(lsp.MethodEditor+senses.Hover).Fail(-32601, "no")
	_, failure := turn.Wait()
	require.Nil(t, failure)
	_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "again"})
	require.Nil(t, failure)
	reqs := m.Requests()
	require.Equal(t, "The user's editor can't be asked for hover.", lastResult(t, reqs[1]))
	require.Contains(t, lastResult(t, reqs[2]), "can't be asked for")
	require.Equal(t, "The editor can be asked for symbols.", lastResult(t, reqs[4]))
	require.Contains(t, string(reqs[3].Body), `"enum":["symbols","status"]`)
}

// A rename is a change: the user sees the differences of all files, the open document is changed by the editor, and
// later answers of the editor have no effect.
func TestRenameByTheEditor(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	open, closed := m.path("a.go"), m.path("b.go")
	m.write(open, "package a\n")
	m.write(closed, "package a\n\nvar b = count\n")
	m.Script("m", lspCall("action", "rename", "file", "a.go", "line", "3", "symbol", "count", "new_name", "total"), providertest.Reply{Text: "Done."})
	options := announcing("rename")
	options["approval"] = "ask"
	ed := m.edit(options)
	ed.Open(open, "package a\n\nvar count = 1\n")
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "rename"})
	edit := lsptest.Fields{"changes": lsptest.Fields{
		lsptest.URI(open):   []any{lsptest.Fields{"range": part(2, 4, 9), "newText": "total"}},
		lsptest.URI(closed): []any{lsptest.Fields{"range": part(2, 8, 13), "newText": "total"}},
	}}
	request := ed.WaitRequest(lsp.MethodEditor + senses.Rename)
	require.JSONEq(t, `{"uri":"`+lsptest.URI(open)+`","position":{"line":2,"character":4},"newName":"total"}`, string(request.Params))
	request.Reply(edit)

	var p lsp.ApproveParams
	request = ed.WaitRequest(lsp.MethodApprove)
	require.NoError(t, json.Unmarshal(request.Params, &p))
	require.Equal(t, "Rename count to total in 2 files", p.Title)
	require.Equal(t, []string{open, closed}, p.Paths)
	require.Contains(t, p.Diff, "-var count = 1\n+var total = 1\n")
	require.Contains(t, p.Diff, "-var b = count\n+var b = total\n")
	require.Empty(t, p.Base)
	require.Len(t, p.Rules, 1)
	require.True(t, p.Rules[0].Edit)
	require.NotContains(t, m.read(closed), "total", "nothing changes before the approval")
	request.Reply(lsptest.Fields{"decision": "once"})

	ed.WaitRequest(lsp.MethodEditor + senses.Rename).Reply(edit)
	request = ed.WaitRequest("workspace/applyEdit")
	var change applied
	require.NoError(t, json.Unmarshal(request.Params, &change))
	require.Equal(t, "var total = 1\n", change.Edit.DocumentChanges[0].Edits[0].NewText)
	ed.ChangeWith(open, 2, lsptest.Fields{"range": change.Edit.DocumentChanges[0].Edits[0].Range, "text": "var total = 1\n"})
	request.Reply(lsptest.Fields{"applied": true})
	_, failure := turn.Wait()
	require.Nil(t, failure)
	require.Contains(t, lastResult(t, m.Requests()[1]), "Done: Rename count to total in 2 files. Changed a.go, b.go.")
	require.Equal(t, "package a\n\nvar b = total\n", m.read(closed))
}

// An edit that differs from the one that the user approved is not made.
func TestTheApprovedRenameIsMade(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	path := m.path("a.go")
	m.write(path, "var count = 1\n")
	m.Script("m", lspCall("action", "rename", "file", "a.go", "line", "1", "symbol", "count", "new_name", "total"), providertest.Reply{Text: "Done."})
	options := announcing("rename")
	options["approval"] = "ask"
	ed := m.edit(options)
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "rename"})
	rename := func(text string) {
		ed.WaitRequest(lsp.MethodEditor + senses.Rename).Reply(lsptest.Fields{"changes": lsptest.Fields{
			lsptest.URI(path): []any{lsptest.Fields{"range": part(0, 4, 9), "newText": text}},
		}})
	}
	rename("total")
	ed.WaitRequest(lsp.MethodApprove).Reply(lsptest.Fields{"decision": "once"})
	rename("evil")
	_, failure := turn.Wait()
	require.Nil(t, failure)
	require.Contains(t, lastResult(t, m.Requests()[1]), "nothing was done")
	require.Equal(t, "var count = 1\n", m.read(path))
}

// In read-only mode and in plan mode edits are refused, and the other actions work.
func TestRenamesAreRefused(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(ed *lsptest.Editor) (refusal string){
		"read-only": func(ed *lsptest.Editor) string {
			do(t, ed, "xcsh.state")
			_, failure := ed.Exec("xcsh.setApproval", lsptest.Fields{"mode": "read-only"})
			require.Nil(t, failure)
			return "The approval mode is read-only"
		},
		"plan mode": func(ed *lsptest.Editor) string {
			_, failure := ed.Exec("xcsh.setMode", lsptest.Fields{"mode": "plan"})
			require.Nil(t, failure)
			return "Plan mode is on, so this lsp call was refused."
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, provider.AnthropicMessages)
			m.write(m.path("a.go"), "var count = 1\n")
			m.Script(
				"m", lspCall("action", "rename", "file", "a.go", "line", "1", "symbol", "count", "new_name", "total"),
				lspCall("action", "symbols", "file", "a.go"), providertest.Reply{Text: "Done."},
			)
			ed := m.edit(announcing("rename", "symbols"))
			refusal := refuse(ed)
			turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "rename"})
			raw, failure := turn.WaitAnswering(func(r lsptest.Request) {
				switch r.Method {
				case lsp.MethodEditor + senses.Rename:
					r.Reply(lsptest.Fields{"changes": lsptest.Fields{lsptest.URI(m.path("a.go")): []any{lsptest.Fields{"range": part(0, 4, 9), "newText": "total"}}}})
				case lsp.MethodEditor + senses.Symbols:
					r.Reply([]any{lsptest.Fields{"name": "count", "kind": 13, "range": part(0, 0, 13), "selectionRange": part(0, 4, 9)}})
				}
			})
			require.Nil(t, failure, string(raw))
			reqs := m.Requests()
			require.True(t, hasTool(reqs[0], "lsp"))
			require.Contains(t, lastResult(t, reqs[1]), refusal)
			require.Equal(t, "Symbols in a.go:\n  variable count, line 1", lastResult(t, reqs[2]))
			require.Equal(t, "var count = 1\n", m.read(m.path("a.go")))
		})
	}
}
