//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A subagent calls the tools of the conversation's servers, by every name that they may have, and other programs' names of
// tools. It has none of the tools of the main agent. One that only reads has neither tools that change something nor the
// editor's edits, and calls of them are refused.
func TestTheToolsOfSubagents(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	probe := m.withServer(".xcsh", "probe")
	start := func(name, agent string) providertest.Reply {
		return providertest.Reply{ToolCalls: calls("task", map[string]any{"tasks": []any{map[string]any{"name": name, "agent": agent, "task": "look"}}})}
	}
	hi := map[string]any{"text": "hi"}
	m.write(m.path("here.txt"), "here\n")
	m.Script("m",
		start("Worker", "task"),
		providertest.Reply{ToolCalls: calls("mcp_probe_echo", hi)},
		providertest.Reply{ToolCalls: calls("mcp__probe__echo", hi)},
		providertest.Reply{ToolCalls: calls("glob", map[string]any{"pattern": "*.txt"})},
		providertest.Reply{ToolCalls: calls("ask", map[string]any{"questions": []any{}})},
		providertest.Reply{Text: "Worked."},
		start("Scouty", "scout"),
		providertest.Reply{ToolCalls: calls("mcp__probe__echo", hi)},
		lspCall("action", "rename", "file", "here.txt", "line", "1", "symbol", "here", "new_name", "there"),
		providertest.Reply{Text: "Looked."},
		providertest.Reply{Text: "Done."})
	ed := m.opened(lsptest.Fields{"approval": "yolo", "ui": lsptest.Fields{"hooks": true, "editor": []string{"definition", "rename"}}})
	carry(t, ed, "xcsh.prompt", lsptest.Fields{"text": "delegate"})
	r := m.Requests()
	require.Len(t, r, 11)

	require.True(t, hasTool(r[0], "task"))
	require.True(t, hasTool(r[1], "mcp_probe_echo"))
	require.Contains(t, string(r[1].Body), `"enum":["definition","rename","status"]`)
	for _, name := range []string{"task", "ask", "todo", "todo_write", "process"} {
		require.False(t, declares(r[1], name), name)
		require.False(t, declares(r[7], name), name)
	}
	require.Equal(t, "echo: hi", lastResult(t, r[2]))
	require.Equal(t, "echo: hi", lastResult(t, r[3]))
	require.Contains(t, lastResult(t, r[4]), "here.txt")
	require.Contains(t, lastResult(t, r[5]), "ask")
	require.NotContains(t, lastResult(t, r[5]), "echo")

	require.False(t, declares(r[7], "mcp_probe_echo"))
	require.False(t, declares(r[7], "write"))
	require.Contains(t, string(r[7].Body), `"enum":["definition","status"]`)
	require.Equal(t, "The subagent Scouty does not have the tool mcp__probe__echo.", lastResult(t, r[8]))
	require.Contains(t, lastResult(t, r[9]), "rename")
	requireNotAsked(t, ed)
	require.Len(t, probe.Starts(t), 1, "the servers are those of the conversation")
	require.Equal(t, "here\n", m.read(m.path("here.txt")))
	require.NotContains(t, strings.Join([]string{messagesOf(ed), string(r[1].Body)}, ""), concealed)
	ed.Shutdown()
	ed.Exit()
	mcptest.Gone(t, probe.Starts(t)...)
}
