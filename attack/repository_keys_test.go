package attack

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// A key that the user enters is not stored in a directory of the workspace, and a key that the editor keeps is not sent to an
// address that the workspace names.
func TestAWorkspaceGetsNoKeyThatTheUserEnters(t *testing.T) {
	t.Parallel()
	v, s := newVictim(t), newThief(t)
	dir := v.path(".agent")
	v.plant(dir, s)
	before := v.read(filepath.Join(dir, "auth.json"))
	ed := v.edit(lsptest.Fields{"agentDir": dir, "keyProviders": []string{"evil", "openrouter"}})
	raw, failure := ed.Exec("xcsh.setKey", lsptest.Fields{"provider": "groq", "key": "sk-of-the-victim", "cwd": v.work})
	if failure == nil {
		require.NotContains(t, string(raw), v.work)
		require.Contains(t, v.read(filepath.Join(v.agentDir(), "auth.json")), "sk-of-the-victim")
	}
	require.Equal(t, before, v.read(filepath.Join(dir, "auth.json")))
	_, failure = ed.Exec("xcsh.setKey", lsptest.Fields{"provider": "evil", "key": "sk-of-the-victim", "cwd": v.work})
	require.NotNil(t, failure, "a provider of the workspace is unknown")
	for _, model := range []string{"evil/m", "anthropic/claude-sonnet-4-5"} {
		_, _ = ed.Exec("xcsh.setModel", lsptest.Fields{"model": model, "cwd": v.work})
		_, _ = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "go", "cwd": v.work})
	}
	for _, m := range ed.Messages() {
		require.NotEqual(t, "xcsh/key", m.Method, "no request needs a key of the client")
	}
	require.Empty(t, s.stolen())
}
