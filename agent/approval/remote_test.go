package approval_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// A rule about a tool of a server allows this tool of this program, and a wider one all its tools that say they only read. Neither is a
// rule about a tool of another kind with that name.
func TestRulesAboutToolsOfServers(t *testing.T) {
	t.Parallel()
	remote := func(server, name, digest string, reads bool) approval.Request {
		return approval.Request{ID: "c", Tool: "mcp_" + name, Args: []byte(`{}`), MCP: &tool.Remote{Server: server, Tool: name, Digest: digest, ReadOnly: reads}}
	}
	one := fixed{{Server: "docs", Tool: "find", Digest: "d"}}
	wide := fixed{{Server: "docs", Reads: true, Digest: "d"}}
	for _, c := range []struct {
		name  string
		rules fixed
		r     approval.Request
		asks  bool
	}{
		{"no rule", nil, remote("docs", "find", "d", true), true},
		{"its rule", one, remote("docs", "find", "d", false), false},
		{"another tool", one, remote("docs", "write", "d", true), true},
		{"another server", one, remote("other", "find", "d", false), true},
		{"another program", one, remote("docs", "find", "e", false), true},
		{"a tool that says it reads", wide, remote("docs", "any", "d", true), false},
		{"one that does not", wide, remote("docs", "any", "d", false), true},
		{"reads, another program", wide, remote("docs", "any", "e", true), true},
		{"a user's tool", one, approval.Request{ID: "c", Tool: "find", Args: []byte(`{}`), Digest: "d"}, true},
		{"a rule about a user's tool", fixed{{Tool: "find", Digest: "d"}}, remote("docs", "find", "d", true), true},
		{"without a digest", fixed{{Server: "docs", Tool: "find"}}, remote("docs", "find", "", true), true},
		{"two kinds", fixed{{Server: "docs", Tool: "find", Reads: true, Digest: "d"}}, remote("docs", "find", "d", true), true},
		{"reads without a server", fixed{{Reads: true, Digest: "d"}}, remote("", "find", "d", true), true},
	} {
		cfg := approval.Config{Root: "/w", Mode: approval.AutoEdit, Memory: c.rules}
		require.Equal(t, c.asks, asks(t, cfg, c.r), c.name)
	}
}

// In read-only mode a tool needs a rule, and that its server says it only reads. The wider answer adds the wider rule only, and is none
// for a call without one.
func TestToolsOfServersInReadOnlyMode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reads bool
		rules fixed
		runs  bool
	}{
		{true, nil, false},
		{true, fixed{{Server: "s", Tool: "t", Digest: "d"}}, true},
		{false, fixed{{Server: "s", Tool: "t", Digest: "d"}}, false},
		{true, fixed{{Server: "s", Reads: true, Digest: "d"}}, true},
	} {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.ReadOnly, Memory: c.rules})
		r := approval.Request{ID: "c", Tool: "mcp_s_t", MCP: &tool.Remote{Server: "s", Tool: "t", Digest: "d", ReadOnly: c.reads}}
		_, err := g.Ask(t.Context(), r)
		require.Equal(t, c.runs, err == nil, "%v", c)
		r.AlwaysAsk = true
		_, err = g.Ask(t.Context(), r)
		require.Error(t, err)
	}

	g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
	var shown []approval.Prompt
	g.Attach(func(_ context.Context, p approval.Prompt) (approval.Decision, error) {
		shown = append(shown, p)
		return approval.SessionWider, nil
	})
	ask := func(name string, reads bool) {
		_, err := g.Ask(t.Context(), approval.Request{ID: name, Tool: "mcp_" + name, MCP: &tool.Remote{Server: "s", Tool: name, Digest: "d", ReadOnly: reads}})
		require.NoError(t, err)
	}
	ask("a", true)
	require.Equal(t, "all calls of the tool a of the MCP server s", shown[0].Allows())
	require.Equal(t, "all tools of the MCP server s that say they only read", shown[0].AllowsWider())
	ask("b", true)
	require.Len(t, shown, 1)
	ask("c", false)
	ask("c", false)
	require.Len(t, shown, 3, "there was no wider rule to add")
}
