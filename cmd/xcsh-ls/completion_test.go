package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// An editor without a plugin completes names in the file of a prompt, which is then expanded.
func TestNamesInTheFileOfAPrompt(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.write(filepath.Join(m.agentDir(), "skills/pdf-tools/SKILL.md"), "---\ndescription: Extract text\n---\nUse pdftotext.")
	m.write(filepath.Join(m.agentDir(), "commands/review.md"), "---\ndescription: Review it\nargument-hint: <file>\n---\nReview $1.")
	ed := lsptest.StartProcess(t, m.command("--stdio"))
	ed.Initialize(lsptest.Fields{
		"initializationOptions": lsptest.Fields{"model": "fake/m"},
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
		"capabilities":          lsptest.Fields{"window": lsptest.Fields{"showDocument": lsptest.Fields{"support": true}}},
	})
	m.Script("m", providertest.Reply{Text: "Done."})
	prompt := ed.BeginExec("xcsh.prompt", nil)
	r := ed.WaitRequest("window/showDocument")
	var shown struct{ URI string }
	require.NoError(t, json.Unmarshal(r.Params, &shown))
	r.Reply(lsptest.Fields{"success": true})
	path := lsptest.Path(t, shown.URI)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	ed.Open(path, string(content))
	complete := func(line, character int) (labels []string, first string) {
		raw, failure := ed.Call("textDocument/completion", lsptest.Fields{
			"textDocument": lsptest.Fields{"uri": shown.URI}, "position": lsptest.Fields{"line": line, "character": character},
		})
		require.Nil(t, failure)
		var items []struct{ Label string }
		require.NoError(t, json.Unmarshal(raw, &items))
		for _, i := range items {
			labels = append(labels, i.Label)
		}
		return labels, string(raw)
	}
	names, _ := complete(0, 0)
	require.Nil(t, names, "nothing is typed")
	ed.Change(path, 2, "/rev"+string(content))
	names, raw := complete(0, 4)
	require.Equal(t, []string{"/review"}, names)
	require.JSONEq(t, `[{"label":"/review","kind":3,"detail":"<file>","documentation":"Review it","filterText":"/review",
		"textEdit":{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":4}},"newText":"/review "}}]`, raw)
	ed.Change(path, 3, "/"+string(content))
	names, _ = complete(0, 1)
	require.Subset(t, names, []string{"/compact", "/stats", "/review", "/skill:pdf-tools"})
	ed.Change(path, 4, "\n /skill:p"+string(content))
	names, raw = complete(1, 9)
	require.Equal(t, []string{"/skill:pdf-tools"}, names)
	require.Contains(t, raw, `{"start":{"line":1,"character":1},"end":{"line":1,"character":9}}`)
	for i, text := range []string{"see /rev", "/review x", "/usr/rev"} {
		ed.Change(path, 5+i, text+string(content))
		names, _ = complete(0, len(text))
		require.Nil(t, names, text)
	}
	_, failure := ed.Call("textDocument/completion", lsptest.Fields{"textDocument": lsptest.Fields{"uri": lsptest.URI(m.path("a.go"))}, "position": lsptest.Fields{}})
	require.Nil(t, failure)

	require.NoError(t, os.WriteFile(path, []byte("/review a.go\n"+string(content)), 0o600))
	ed.Save(path)
	raw2, failure := prompt.Wait()
	require.Nil(t, failure)
	require.Contains(t, string(raw2), `"expanded":{"name":"review"`)
	require.Equal(t, "Review a.go.", m.Requests()[0].LastText())
}
