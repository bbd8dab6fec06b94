package commands_test

import (
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

func TestSetup(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for path, content := range map[string]string{
		"/home/u/.pi/agent/AGENTS.md": "User.", "/w/AGENTS.md": "Project.",
		"/w/.pi/mcp.json": `{"mcpServers":{"docs":{"command":"npx","args":["docs"],"env":{"KEY":"SECRET"}}}}`,
	} {
		require.NoError(t, afero.WriteFile(fsys, path, []byte(content), 0o600))
	}
	env := newEnv(fsys, func(c *agent.Config) {
		c.Setups = &setup.Finder{Fs: fsys, Home: "/home/u", Dirs: []setup.Dir{{Path: agentDir, Program: session.Xcsh}, {Path: "/home/u/.pi/agent", Program: session.Pi}}}
	})
	require.Equal(t, "xcsh", do(t, env, "xcsh.setup", nil)["program"])
	raw, err := run(t.Context(), env, "xcsh.setup", args{"program": "pi"})
	require.NoError(t, err)
	require.NotContains(t, string(raw), "SECRET")
	r := do(t, env, "xcsh.setup", args{"program": "pi"})
	require.Len(t, r["context"], 2)
	require.Empty(t, r["servers"])
	require.Equal(t, map[string]any{"state": "untrusted", "question": "The folder w brings its own set-up: 1 MCP server (docs: npx docs). Use it?"}, r["trust"])
	_, err = run(t.Context(), env, "xcsh.setup", args{"program": "emacs"})
	requireKind(t, fault.InvalidArgument, err)

	// Without the editor's trust the folder is ignored.
	env.Restricted = func() bool { return true }
	require.Equal(t, "restricted", do(t, env, "xcsh.setup", args{"program": "pi"})["trust"].(map[string]any)["state"])
}
