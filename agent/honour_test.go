package agent_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// lastResults returns the results of tools in the newest request.
func lastResults(m *models) (texts []string) {
	requests := m.Requests()
	for _, msg := range requests[len(requests)-1].Messages {
		if msg.Role == provider.RoleToolResult {
			texts = append(texts, msg.PlainText())
		}
	}
	return texts
}

// The settings of the program that wrote the session hold for tools and their approval, and change with the next turn.
func TestSettingsOfTheProgramHoldForTools(t *testing.T) {
	t.Parallel()
	fs := project(t, map[string]string{
		root + "/config.yml": "tools: {approval: {ls: deny, write: prompt}}\ngrep: {enabled: false}\nthinkingBudgets: {high: 4000}\n", "/w/x.go": "package x",
	})
	m := scripted(calling("ls", "."), calling("grep", "."), calling("read", "x.go"), calling("write", "x.go"), providertest.Reply{Text: "One."}, calling("ls", "."), calling("write", "y.go"), providertest.Reply{Text: "Two."})
	w := newWorld(t, fs, append(inProject(fs, m), func(c *agent.Config) { c.Approval = approval.Yolo })...)
	live := w.live(t, "/w")
	answered := promptInBackground(t, live, "go")
	var id string
	require.Eventually(t, func() bool {
		waiting, err := live.Snapshot(t.Context())
		if err == nil && len(waiting.Approvals) == 1 {
			id = waiting.Approvals[0].ID
		}
		return id != ""
	}, time.Minute, time.Millisecond, "write is asked about, although the mode is yolo")
	require.NoError(t, live.Deny(id, ""))
	<-answered
	require.NotContains(t, toolNames(m.Requests()[0].Tools), "grep")
	require.Contains(t, toolNames(m.Requests()[0].Tools), "ls")
	results := lastResults(m)
	require.Equal(t, "The setting tools.approval in "+root+"/config.yml denies all ls calls.", results[0])
	require.Contains(t, results[1], "grep")
	require.Equal(t, "package x", results[2])
	content, err := afero.ReadFile(fs, "/w/x.go")
	require.NoError(t, err)
	require.Equal(t, "package x", string(content))

	require.NoError(t, afero.WriteFile(fs, root+"/config.yml", nil, 0o600))
	prompt(t, live, "again")
	require.Contains(t, toolNames(m.Requests()[6].Tools), "grep")
	results = lastResults(m)
	require.NotContains(t, results[4], "denies")
	_, err = fs.Stat("/w/y.go")
	require.NoError(t, err)
	require.NoError(t, w.Close(t.Context()))
}

// showing is a tool that keeps how commands would be run.
func showing(to *tool.ShellSetup) tool.Tool {
	return tool.Tool{
		Tool: provider.Tool{Name: "show", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
		Run: func(_ context.Context, env tool.Env, _ json.RawMessage) (tool.Result, error) {
			*to = env.Shell
			return tool.TextResult("done"), nil
		},
	}
}

// Commands of a session of pi know it by pi's variables.
func TestVariablesOfSessionsOfPi(t *testing.T) {
	t.Parallel()
	fs := withSetups(t)
	m := scripted(providertest.Reply{ToolCalls: []providertest.Call{{Name: "show", Args: map[string]any{}}}}, providertest.Reply{Text: "One."})
	var shown tool.ShellSetup
	w := newWorld(t, fs, append(inProject(fs, m), withTools(showing(&shown)), ofPi(fs))...)
	live := w.live(t, "/w")
	_, err := live.Switch(t.Context(), "/w/s.jsonl")
	require.NoError(t, err)
	require.NoError(t, afero.WriteFile(fs, "/home/u/.pi/agent/settings.json", []byte(`{"shellPath":"~/bin/zsh","shellCommandPrefix":"set -e"}`), 0o600))
	prompt(t, live, "go")
	require.Equal(t, "/home/u/bin/zsh", shown.Program)
	require.Equal(t, "set -e", shown.Prefix)
	require.Equal(t, []string{
		"PI_SESSION_ID=0199aaaa-0000-7000-8000-000000000001", "PI_SESSION_FILE=/w/s.jsonl", "PI_PROVIDER=p", "PI_MODEL=m", "PI_REASONING_LEVEL=medium",
	}, shown.Variables)
	require.NoError(t, w.Close(t.Context()))
}

// The shell of the flag takes precedence over that of a program's settings, whose lines before each command stay.
func TestTheShellOfTheFlag(t *testing.T) {
	t.Parallel()
	fs := withSetups(t)
	m := scripted(providertest.Reply{ToolCalls: []providertest.Call{{Name: "show", Args: map[string]any{}}}}, providertest.Reply{Text: "One."})
	var shown tool.ShellSetup
	w := newWorld(t, fs, append(inProject(fs, m), withTools(showing(&shown)), ofPi(fs), func(c *agent.Config) { c.ShellPath = "/opt/bash" })...)
	live := w.live(t, "/w")
	_, err := live.Switch(t.Context(), "/w/s.jsonl")
	require.NoError(t, err)
	require.NoError(t, afero.WriteFile(fs, "/home/u/.pi/agent/settings.json", []byte(`{"shellPath":"/bin/zsh","shellCommandPrefix":"set -e"}`), 0o600))
	prompt(t, live, "go")
	require.Equal(t, "/opt/bash", shown.Program)
	require.Equal(t, "set -e", shown.Prefix)
	require.NoError(t, w.Close(t.Context()))
}
