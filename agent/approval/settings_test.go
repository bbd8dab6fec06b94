package approval_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// What the user's settings say about a tool: always ask, or allow as a rule would.
func TestSettingsOfTools(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	here, elsewhere := filepath.Join(root, "x"), filepath.Join(filepath.Dir(root), "y")
	asking := func(r approval.Request) approval.Request { r.AlwaysAsk = true; return r }
	allowed := func(r approval.Request) approval.Request { r.Allowed = true; return r }
	other := func(r approval.Request) approval.Request { r.OtherShell = true; return r }
	named := approval.Request{ID: "o", Tool: "mcp_x_y", Args: []byte(`{}`)}
	for _, c := range []struct {
		name string
		mode approval.Mode
		r    approval.Request
		asks bool
	}{
		{"always", approval.Yolo, asking(edit("e", here)), true},
		{"always", approval.Yolo, asking(command("c", "ls")), true},
		{"always", approval.AutoEdit, asking(edit("e", here)), true},
		{"changes of protected files that were made", approval.Yolo, asking(approval.Request{ID: "k", Tool: "bash", Changed: true, Preview: tool.Preview{Paths: []string{here}}}), false},
		{"allowed", approval.Ask, allowed(edit("e", here)), false},
		{"allowed", approval.Ask, allowed(named), false},
		{"outside", approval.Ask, allowed(edit("e", elsewhere)), true},
		{"protected", approval.Ask, allowed(edit("e", filepath.Join(root, ".git", "config"))), true},
		{"no commands", approval.Ask, allowed(command("c", "touch x")), true},
		{"another shell", approval.Ask, other(command("c", "ls")), true},
		{"another shell", approval.Yolo, other(command("c", "ls")), false},
	} {
		require.Equal(t, c.asks, asks(t, approval.Config{Root: root, Mode: c.mode, Sandbox: true}, c.r), "%s %s %s", c.name, c.mode, c.r.Tool)
	}
	require.False(t, asks(t, approval.Config{Root: root, Mode: approval.Ask, Sandbox: true}, command("c", "ls")), "bash is known")
	_, err := approval.NewGate(approval.Config{Root: root, Mode: approval.ReadOnly}).Ask(t.Context(), allowed(edit("e", here)))
	require.Error(t, err, "read-only stays read-only")
}
