package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A subagent in the program: the user answers the question about the call and the one of the subagent, which names it.
// Its progress is in the events, its work in the folder, and its transcript opens.
func TestASubagentInAnEditor(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	task := map[string]any{"tasks": []any{map[string]any{"name": "writer", "task": "write new.txt"}}}
	m.Script(
		"m", providertest.Reply{ToolCalls: calls("task", task)},
		providertest.Reply{ToolCalls: calls("write", map[string]any{"path": "new.txt", "content": "new\n"})},
		providertest.Reply{Text: "It is written."}, providertest.Reply{Text: "Done."},
	)
	ed := m.edit(nil)
	turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "delegate"})
	ed.AnswerQuestion("Allow xcsh to start the subagent Writer (task)?\nFor this session: every call of task", "Allow")
	ed.AnswerQuestion("In task Writer: Allow xcsh to create new.txt?\nFor this session: edits to files in this folder, except protected files\n"+
		"--- new.txt\n+++ new.txt\n@@ -0,0 +1 @@\n+new\n", "Allow")
	_, failure := turn.Wait()
	require.Nil(t, failure)
	content, err := os.ReadFile(m.path("new.txt"))
	require.NoError(t, err)
	require.Equal(t, "new\n", string(content))

	var state agent.State
	raw, failure := ed.Exec("xcsh.state", nil)
	require.Nil(t, failure)
	require.NoError(t, json.Unmarshal(raw, &state))
	transcript := filepath.Join(strings.TrimSuffix(*state.File, ".jsonl"), "Writer.jsonl")
	output, err := os.ReadFile(strings.TrimSuffix(transcript, ".jsonl") + ".md")
	require.NoError(t, err)
	require.Equal(t, "It is written.", string(output))
	raw, failure = ed.Exec("xcsh.transcript", lsptest.Fields{"source": transcript})
	require.Nil(t, failure)
	var shown struct{ Path string }
	require.NoError(t, json.Unmarshal(raw, &shown))
	page, err := os.ReadFile(shown.Path)
	require.NoError(t, err)
	require.Contains(t, string(page), "It is written.")
	raw, failure = ed.Exec("xcsh.list", nil)
	require.Nil(t, failure)
	require.NotContains(t, string(raw), "Writer")
}
