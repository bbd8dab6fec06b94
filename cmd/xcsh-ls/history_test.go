package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// historyEditor is an editor whose test can access the server's prompt history.
type historyEditor struct {
	*lsptest.Editor
	started chan *history.Store // the server's history, sent once it has started
}

// editAsServed starts an editor in the machine's folder, with the server that users run.
func (m *machine) editAsServed(options lsptest.Fields) *historyEditor {
	m.t.Helper()
	server := serverOptions(flags{agentDir: m.agentDir()}, zaptest.NewLogger(m.t))
	started, start := make(chan *history.Store, 1), server.Started
	server.Started = func(ctx context.Context, env *commands.Env) {
		start(ctx, env)
		started <- env.Sessions.History()
	}
	ed := &historyEditor{lsptest.Start(m.t, server), started}
	ed.Initialize(lsptest.Fields{
		"initializationOptions": options, "workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
	})
	return ed
}

func historyOf(t *testing.T, ed *historyEditor) (prompts []commands.PastPrompt) {
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

// recordedHistoryOf is historyOf once every queued prompt has its id. Prompts are written to the
// database in the background and are listed without an id until then. A session queues the prompts
// that a killed process left when it opens.
func recordedHistoryOf(t *testing.T, ed *historyEditor) []commands.PastPrompt {
	t.Helper()
	store := <-ed.started
	ed.started <- store
	require.NoError(t, store.Flush(t.Context()))
	return historyOf(t, ed)
}

// The process of a session is killed before its first prompt is answered: no session contains the
// prompt, and the next editor offers it once.
// Proves: F-06, AB-001
func TestUnansweredPromptIsOfferedAfterACrash(t *testing.T) {
	t.Parallel()
	skipWithoutSignals(t)
	m := newMachine(t, provider.AnthropicMessages)
	m.Script("m", providertest.Reply{Text: "One."}, providertest.Reply{Text: "a long answer", Hold: make(chan struct{})})
	code, _, stderr := m.run("run", "--model", "fake/m", "answered")
	require.Zero(t, code, stderr)
	r := m.begin("text_delta", "run", "--json", "--model", "fake/m", "never answered")
	require.NoError(t, r.Process.Kill())
	_, _, _ = r.end()
	require.Contains(t, m.read(m.sessionFile()), "answered", "only the first prompt has a session")
	require.NotContains(t, m.read(m.sessionFile()), "never answered")

	ed := m.editAsServed(lsptest.Fields{"roots": []string{}})
	unanswered := commands.PastPrompt{ID: 2, Prompt: "never answered", Cwd: m.work, Unanswered: true}
	answered := commands.PastPrompt{ID: 1, Prompt: "answered", Cwd: m.work}
	listed := historyOf(t, ed)
	require.Len(t, listed, 2)
	listed[0].ID = unanswered.ID // the killed process may not have written it to the database
	require.Equal(t, []commands.PastPrompt{unanswered, answered}, listed)
	do(t, ed.Editor, "xcsh.state")
	require.Contains(t, string(ed.WaitEvent("notice")), `never answered`)
	require.Equal(t, []commands.PastPrompt{unanswered, answered}, recordedHistoryOf(t, ed))
	ed.Shutdown()
	ed.Exit()

	ed = m.editAsServed(lsptest.Fields{"roots": []string{}})
	unanswered.Unanswered = false
	require.Equal(t, []commands.PastPrompt{unanswered, answered}, recordedHistoryOf(t, ed), "it is an ordinary prompt now")
	ed.Shutdown()
	ed.Exit()
	files, err := os.ReadDir(filepath.Join(m.agentDir(), "xcsh-ls", "unanswered"))
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestHistoryCanBeDisabled(t *testing.T) {
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
	files, err := os.ReadDir(filepath.Join(m.agentDir(), "xcsh-ls", "unanswered"))
	require.NoError(t, err)
	require.Empty(t, files, "answered prompts are not kept")
}
