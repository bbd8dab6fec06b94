package attack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// reader starts the program as the language server of an editor that shows everything.
func (v *victim) reader() *lsptest.Editor {
	v.t.Helper()
	ed := lsptest.StartProcess(v.t, v.command("--session-dir", filepath.Join(v.home, "all")))
	ed.Initialize(lsptest.Fields{
		"initializationOptions": lsptest.Fields{"model": "fake/m"},
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(v.work), "name": "w"}},
		"capabilities": lsptest.Fields{
			"textDocument": lsptest.Fields{"hover": lsptest.Fields{"contentFormat": []string{"markdown"}}, "documentSymbol": lsptest.Fields{"hierarchicalDocumentSymbolSupport": true}},
			"window":       lsptest.Fields{"workDoneProgress": true, "showDocument": lsptest.Fields{"support": false}},
			"workspace":    lsptest.Fields{"textDocumentContent": lsptest.Fields{}},
		},
	})
	return ed
}

// texts returns every string of a JSON value, except those below the named members, such as ids and
// addresses that a client sends back and does not show.
func texts(raw []byte, except ...string) (all []string) {
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for name, e := range v {
				if !strings.Contains(" "+strings.Join(except, " ")+" ", " "+name+" ") {
					walk(e)
				}
			}
		}
	}
	var v any
	if json.Unmarshal(raw, &v) == nil {
		walk(v)
	}
	return all
}

// Texts that an editor shows for a session document, and texts that it renders as Markdown.
func TestSessionDocumentsAreDeadInAnEditor(t *testing.T) {
	v := newVictim(t)
	poisons := strings.ReplaceAll(strings.Join(poison, "\n\n"), "'", "`")
	path := v.path("hostile.jsonl")
	v.write(path, strings.Join(v.hostileLines(steering+poisons), "\n"))
	ed := v.reader()
	ed.Open(path, v.read(path))
	document := lsptest.Fields{"uri": lsptest.URI(path)}
	hovers := 0
	for line := range strings.Count(v.read(path), "\n") + 1 {
		raw, wrong := ed.Call("textDocument/hover", lsptest.Fields{"textDocument": document, "position": lsptest.Fields{"line": line, "character": 0}})
		require.Nil(t, wrong)
		for _, s := range texts(raw) {
			requireSteersNothing(t, "hover", s)
			if s != "markdown" {
				requireDeadPage(t, render(t, s))
				hovers++
			}
		}
	}
	require.Greater(t, hovers, 20)
	for _, method := range []string{"documentSymbol", "codeLens", "foldingRange", "documentLink"} {
		raw, wrong := ed.Call("textDocument/"+method, lsptest.Fields{"textDocument": document})
		require.Nil(t, wrong)
		for _, s := range texts(raw, "arguments", "target", "uri") {
			requireSteersNothing(t, method, s)
			require.NotContains(t, s, "\n", method)
		}
	}
	for _, s := range texts(ed.WaitNotification("textDocument/publishDiagnostics"), "uri") {
		requireSteersNothing(t, "diagnostics", s)
	}
}

// Texts that commands return or show to the user.
func TestSessionTextsAreDeadInAnEditor(t *testing.T) {
	v := newVictim(t)
	path := v.poisoned("p", steering+strings.Join(poison, "\n\n"))
	ed := v.reader()
	raw, wrong := ed.Exec("xcsh.dump", lsptest.Fields{"source": path})
	require.Nil(t, wrong)
	requireSteersNothing(t, "dump", strings.Join(texts(raw), ""))
	raw, wrong = ed.Exec("xcsh.dump", lsptest.Fields{"source": path, "raw": true})
	require.Nil(t, wrong)
	require.Contains(t, strings.Join(texts(raw), ""), "answer "+steering)

	raw, wrong = ed.Exec("xcsh.transcript", lsptest.Fields{"source": path})
	require.Nil(t, wrong)
	var shown struct{ Path string }
	require.NoError(t, json.Unmarshal(raw, &shown))
	page, err := os.ReadFile(shown.Path)
	require.NoError(t, err)
	requireSteersNothing(t, "transcript", string(page))
	requireDeadPage(t, render(t, string(page)))

	raw, wrong = ed.Call("workspace/textDocumentContent", lsptest.Fields{"uri": "xcsh" + strings.TrimPrefix(lsptest.URI(path), "file") + ".md"})
	require.Nil(t, wrong)
	requireDeadPage(t, render(t, strings.Join(texts(raw), "")))

	_, wrong = ed.Exec("xcsh.resume", lsptest.Fields{"target": steering})
	require.NotNil(t, wrong)
	requireSteersNothing(t, "error", wrong.Message)
	raw, wrong = ed.Exec("xcsh.resume", lsptest.Fields{"target": path})
	require.Nil(t, wrong, "%v", wrong)
	requireSteersNothing(t, "log message", strings.Join(texts(ed.WaitNotification("window/logMessage")), ""))
	_ = raw
}
