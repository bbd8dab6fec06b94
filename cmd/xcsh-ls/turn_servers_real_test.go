//go:build peers && unix

package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// The published servers work over the wire: lists, calls, progress, a stopped call, and a question that the editor answers. "npm ci" in
// agent/mcp/testdata/servers installs them.
func TestRealServersOverTheWire(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	require.NoError(t, err)
	m := newMachine(t, provider.AnthropicMessages)
	definitions := map[string]any{}
	for name, args := range map[string][]string{"everything": nil, "filesystem": {m.work}, "memory": nil} {
		script, err := filepath.Abs("../../agent/mcp/testdata/servers/node_modules/@modelcontextprotocol/server-" + name + "/dist/index.js")
		require.NoError(t, err)
		require.FileExists(t, script, "run npm ci in agent/mcp/testdata/servers")
		definitions[name] = map[string]any{"command": node, "args": append([]string{script}, args...), "env": map[string]string{"MEMORY_FILE_PATH": m.path("memory.json")}}
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": definitions})
	require.NoError(t, err)
	m.write(filepath.Join(m.agentDir(), "mcp.json"), string(raw))
	m.write(m.path("a.txt"), "the content")
	ed := m.opened(lsptest.Fields{"approval": "yolo", "ui": lsptest.Fields{"hooks": true}})
	m.Script("m",
		providertest.Reply{ToolCalls: calls("mcp_everything_echo", map[string]any{"message": "hi"})},
		providertest.Reply{ToolCalls: calls("mcp_everything_trigger_long_running_operation", map[string]any{"duration": 0.3, "steps": 2})},
		providertest.Reply{ToolCalls: calls("mcp_filesystem_read_text_file", map[string]any{"path": m.path("a.txt")})},
		providertest.Reply{ToolCalls: calls("mcp_memory_create_entities", map[string]any{"entities": []any{map[string]any{"name": "Ada", "entityType": "person", "observations": []string{"writes programs"}}}})},
		providertest.Reply{ToolCalls: calls("mcp_everything_trigger_elicitation_request", map[string]any{})},
		providertest.Reply{Text: "Done."})
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
	q := ed.WaitRequest("xcsh/ask")
	require.Contains(t, string(q.Params), "The MCP server everything asks: ")
	var asked struct {
		Questions []struct {
			ID       string
			Kind     string
			Optional bool
		}
	}
	require.NoError(t, json.Unmarshal(q.Params, &asked))
	answers := []any{}
	for _, question := range asked.Questions {
		if question.ID == "name" {
			answers = append(answers, lsptest.Fields{"id": "name", "selected": []string{}, "custom": "Ada Lovelace"})
		}
	}
	q.Reply(lsptest.Fields{"answers": answers})
	_, failure := prompt.Wait()
	require.Nil(t, failure)
	requests := m.Requests()
	require.Len(t, requests, 6)
	for i, want := range []string{"Echo: hi", "Long running operation completed", "the content", "writes programs", "Ada Lovelace"} {
		require.Contains(t, lastResult(t, requests[i+1]), want)
	}
	require.Regexp(t, `"type":"tool_execution_update"[^\n]*Progress 1/2`, messagesOf(ed))

	m.Script("m", providertest.Reply{ToolCalls: calls("mcp_everything_trigger_long_running_operation", map[string]any{"duration": 600, "steps": 6000})})
	prompt = ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "wait"})
	require.Eventually(t, func() bool { return strings.Contains(messagesOf(ed), "Progress 1/6000") }, patience, tick)
	carry(t, ed, "xcsh.abort", nil)
	result, failure := prompt.Wait()
	require.Nil(t, failure)
	require.Contains(t, string(result), `"stopReason":"aborted"`)
	ed.Shutdown()
	ed.Exit()
}
