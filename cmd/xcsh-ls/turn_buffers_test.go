package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// An agent that edits an open document and then runs a command tests its edit: the document is saved before the command. The
// user's own command sees it, too.
func TestACommandSeesTheEditOfAnOpenDocument(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	path, other := m.path("a.txt"), m.path("b.txt")
	m.write(path, "old\n")
	m.write(other, "old\n")
	m.Script(
		"m", providertest.Reply{ToolCalls: calls("edit", map[string]any{"path": "a.txt", "edits": []any{map[string]any{"oldText": "old", "newText": "new"}}})},
		providertest.Reply{ToolCalls: calls("bash", map[string]any{"command": "cat a.txt b.txt"})},
		providertest.Reply{Text: "Done."},
	)
	ed := m.edit(lsptest.Fields{"approval": "yolo", "ui": lsptest.Fields{"save": true}})
	ed.Open(path, "old\n")
	ed.Open(other, "typed\n")
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "change a.txt and test it"})
	edit := ed.WaitRequest("workspace/applyEdit")
	ed.Change(path, 2, "new\n")
	edit.Reply(lsptest.Fields{"applied": true})

	save := ed.WaitRequest(lsp.MethodSave)
	var p lsp.SaveParams
	require.NoError(t, json.Unmarshal(save.Params, &p))
	assert.Equal(t, lsp.SaveParams{URI: lsptest.URI(path), Version: 2}, p)
	m.write(path, "new\n")
	save.Reply(lsptest.Fields{"saved": true})

	_, failure := turn.Wait()
	require.Nil(t, failure)
	assert.Equal(t, "new\nold\n\n[Unsaved changes in the editor were not seen: b.txt. read shows the unsaved text.]", lastResult(t, m.Requests()[2]))
	assert.Equal(t, "old\n", m.read(other), "the user's own changes are not saved")

	raw, failure := ed.Exec("xcsh.bash", lsptest.Fields{"command": "cat a.txt"})
	require.Nil(t, failure)
	assert.Contains(t, string(raw), `new\n`)
	ed.Shutdown()
	ed.Exit()
}
