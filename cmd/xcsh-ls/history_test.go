package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/providertest"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/lsptest"
)

// editAsServed starts an editor in the machine's folder, with the server that a person has.
func (m *machine) editAsServed(options lsptest.Fields) *lsptest.Editor {
	m.t.Helper()
	ed := lsptest.Start(m.t, serverOptions(flags{agentDir: m.agentDir()}, zaptest.NewLogger(m.t)))
	ed.Initialize(lsptest.Fields{
		"initializationOptions": options, "workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
	})
	return ed
}

func historyOf(t *testing.T, ed *lsptest.Editor) (prompts []commands.PastPrompt) {
	t.Helper()
	raw, failure := ed.Exec("xcsh.history", nil)
	require.Nil(t, failure)
	var result commands.HistoryResult
	require.NoError(t, json.Unmarshal(raw, &result))
	require.Empty(t, result.Problem)
	for i := range result.Prompts {
		require.NotEmpty(t, result.Prompts[i].CreatedAt)
		result.Prompts[i].CreatedAt = ""
	}
	return result.Prompts
}

// The first prompt of a session is killed with its process before anything was answered: no
// session has it, and the next editor offers it, once.
func TestAKilledPromptIsOfferedToTheNextEditor(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	m := newMachine(t, provider.AnthropicMessages)
	m.Script("m", providertest.Reply{Text: "One."}, providertest.Reply{Text: "a long answer", Hold: make(chan struct{})})
	code, _, stderr := m.run("run", "--model", "fake/m", "answered")
	require.Zero(t, code, stderr)
	r := m.begin("a long", "run", "--model", "fake/m", "never answered")
	require.NoError(t, r.Process.Kill())
	_, _, _ = r.end()
	require.Contains(t, m.read(m.sessionFile()), "answered", "the only session is that of the first prompt")
	require.NotContains(t, m.read(m.sessionFile()), "never answered")

	ed := m.editAsServed(lsptest.Fields{"roots": []string{}})
	unanswered := commands.PastPrompt{ID: 2, Prompt: "never answered", Cwd: m.work, Unanswered: true}
	answered := commands.PastPrompt{ID: 1, Prompt: "answered", Cwd: m.work}
	require.Equal(t, []commands.PastPrompt{unanswered, answered}, historyOf(t, ed))
	do(t, ed, "xcsh.state")
	require.Contains(t, string(ed.WaitNotification("xcsh/event")), `never answered`)
	require.Equal(t, []commands.PastPrompt{unanswered, answered}, historyOf(t, ed))
	ed.Shutdown()
	ed.Exit()

	ed = m.editAsServed(lsptest.Fields{"roots": []string{}})
	unanswered.Unanswered = false
	require.Equal(t, []commands.PastPrompt{unanswered, answered}, historyOf(t, ed), "now it is one of many")
	ed.Shutdown()
	ed.Exit()
	files, err := os.ReadDir(filepath.Join(m.agentDir(), "xcsh-ls", "unanswered"))
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestTheHistoryIsTurnedOff(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.Script("m", providertest.Reply{Text: "One."})
	ed := m.editAsServed(lsptest.Fields{"roots": []string{}, "model": "fake/m", "history": lsptest.Fields{"enabled": false}})
	_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "forget it"})
	require.Nil(t, failure)
	require.Empty(t, historyOf(t, ed))
	ed.Shutdown()
	ed.Exit()
	require.NoFileExists(t, filepath.Join(m.agentDir(), "history.db"))
	require.NoDirExists(t, filepath.Join(m.agentDir(), "xcsh-ls", "unanswered"))
}
