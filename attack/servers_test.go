//go:build unix

package attack

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// servers writes definitions of MCP servers into a file.
func (v *victim) servers(path string, servers map[string]any) {
	v.t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": servers})
	require.NoError(v.t, err)
	v.write(path, string(raw))
}

// usersServers is the file of the user's own servers.
func (v *victim) usersServers() string { return filepath.Join(v.agentDir(), "mcp.json") }

// A server whose tool hangs, ends, prints rubbish, floods its standard error, answers 30 MB or leaves processes behind costs the
// call one result, and leaves no process.
func TestServerWithAFaultyTool(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	server := mcptest.Start(t, "ok", "MY_TOKEN="+secret)
	entry := server.Entry()
	entry["timeout"] = 3000
	v.servers(v.usersServers(), map[string]any{"probe": entry})
	calls := []providertest.Call{
		{Name: "mcp_probe_rubbish", Args: map[string]any{}}, {Name: "mcp_probe_flood", Args: map[string]any{}},
		{Name: "mcp_probe_big", Args: map[string]any{"n": 30 << 20}}, {Name: "mcp_probe_fork", Args: map[string]any{}},
		{Name: "mcp_probe_twice", Args: map[string]any{}}, {Name: "mcp_probe_error", Args: map[string]any{}}, {Name: "mcp_probe_die", Args: map[string]any{}},
		{Name: "mcp_probe_noise", Args: map[string]any{}}, {Name: "mcp_probe_hang", Args: map[string]any{}}, {Name: "mcp_probe_echo", Args: map[string]any{"text": "again"}},
	}
	v.does(calls)
	out := v.ask("--approval", "yolo")
	require.Zero(t, out.code, out.stderr)
	results := v.results()
	require.Len(t, results, len(calls), out.stderr)
	for i, want := range []string{"after rubbish", "after the flood", "xxxx", "", "first", "MCP error", "not connected", "not connected", "does not answer", "echo: again"} {
		require.Contains(t, results[i], want, calls[i].Name)
	}
	require.Less(t, len(results[2]), 100<<10)
	require.NotContains(t, strings.Join(results, "\n")+out.stdout+out.stderr, secret)
	require.Empty(t, v.leaked())
	mcptest.Gone(t, server.Starts(t)...)
	mcptest.Gone(t, numbers(t, results[3])...)
}

func numbers(t *testing.T, text string) (all []int) {
	t.Helper()
	for _, word := range strings.Fields(text) {
		var n int
		require.NoError(t, json.Unmarshal([]byte(word), &n), text)
		all = append(all, n)
	}
	require.Len(t, all, 2)
	return all
}
