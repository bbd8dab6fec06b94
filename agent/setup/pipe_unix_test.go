//go:build unix

package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// Pipes, devices and unreadable files are reported and waited for by no one.
func TestFilesThatAreNone(t *testing.T) {
	t.Parallel()
	f, cwd := onDisk(t)
	for _, name := range []string{".pi/mcp.json", ".pi/settings.json", "AGENTS.md", ".pi/prompts/p.md", ".pi/skills/s/SKILL.md", ".agents/skills"} {
		path := filepath.Join(cwd, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, syscall.Mkfifo(path, 0o600))
	}
	agent := filepath.Join(f.Home, ".pi/agent")
	require.NoError(t, os.MkdirAll(agent, 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(agent, "mcp.json"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(agent, "settings.json"), 0o700))
	put(t, filepath.Join(agent, "AGENTS.md"), "x")
	if os.Getuid() != 0 {
		require.NoError(t, os.Chmod(filepath.Join(agent, "AGENTS.md"), 0))
	}
	r := trustOf(t, f, cwd, session.Pi)
	text := strings.Join(problems(r), "\n")
	for _, name := range []string{"w/.pi/mcp.json", "w/.pi/settings.json", "w/.pi/prompts/p.md", "w/.pi/skills/s/SKILL.md", "agent/mcp.json"} {
		assert.Contains(t, text, name+" is not used: it is a pipe, a socket or a device.")
	}
	assert.Contains(t, text, "w/AGENTS.md are not sent to the model: it is a pipe, a socket or a device.")
	assert.Contains(t, text, "agent/settings.json is not used: it is a directory.")
}
