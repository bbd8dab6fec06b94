//go:build peers

package differential

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/echomodel"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// claudeUser is a user with Claude Code as npm installs its adapter, and models of a service.
func claudeUser(t *testing.T) (u *user, model *echomodel.Service, env []string) {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	node := absolute(t, orInstalled("XCSH_NODE", "node-"+runtime.GOOS+"-"+arch, "bin", "node"))
	cli := absolute(t, orInstalled("XCSH_CLAUDE_ACP", "@agentclientprotocol", "claude-agent-acp", "dist", "index.js"))
	claude := absolute(t, orInstalled("XCSH_CLAUDE", "@anthropic-ai", "claude-agent-sdk-"+runtime.GOOS+"-"+arch, "claude"))
	for _, path := range []string{node, cli, claude} {
		if _, err := os.Stat(path); err != nil {
			skip(t, path+" is not installed; run bench/peers/install.sh engines")
		}
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	u = &user{t: t, home: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	bin := filepath.Join(root, "bin")
	for _, dir := range []string{u.home, u.work, bin} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	u.link("claude-agent-acp", node, cli)
	model = echomodel.New(t)
	u.models(filepath.Join(u.home, ".xcsh", "agent"), model.URL)
	return u, model, []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + u.home, "TERM=dumb",
		"ANTHROPIC_BASE_URL=" + model.URL, "ANTHROPIC_API_KEY=k", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", // no other service
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}

// models writes the file that names the models of a service.
func (u *user) models(dir, url string) {
	u.t.Helper()
	raw, err := json.Marshal(object{"providers": object{"fake": object{
		"baseUrl": url, "apiKey": "k", "api": "anthropic-messages",
		"models": []any{object{"id": "theirs", "name": "theirs", "contextWindow": 200000, "maxTokens": 8192}},
	}}})
	require.NoError(u.t, err)
	require.NoError(u.t, os.MkdirAll(dir, 0o700))
	require.NoError(u.t, os.WriteFile(filepath.Join(dir, "models.json"), raw, 0o600))
}

// Claude Code answers in an editor: it asks before it changes a file, the session is ours, also for our own loop and the export, and a fork
// does not continue the conversation of the original.
func TestClaudeInAnEditor(t *testing.T) {
	t.Parallel()
	u, model, env := claudeUser(t)
	path, err := server()
	require.NoError(t, err)
	cmd := exec.Command(path, "--stdio") //nolint:noctx // the editor ends it
	cmd.Dir, cmd.Env = u.work, env
	ed := lsptest.StartProcess(t, cmd)
	ed.Initialize(lsptest.Fields{
		"initializationOptions": lsptest.Fields{"engine": "claude-agent-acp", "approval": "ask", "model": "fake/theirs"},
		"capabilities":          lsptest.Fields{"window": lsptest.Fields{"showMessage": lsptest.Fields{}}},
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(u.work), "name": "w"}},
	})
	do := func(command string, args lsptest.Fields) json.RawMessage {
		t.Helper()
		raw, failure := ed.Exec(command, args)
		require.Nil(t, failure, "%s: %v", command, failure)
		return raw
	}
	file := filepath.Join(u.work, "new.txt")
	for _, answer := range []string{"Deny", "Allow"} {
		prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": `[[tool:Write {"file_path":"` + file + `","content":"hello\n"}]]`})
		ed.AnswerQuestion("Allow xcsh to write new.txt?\nFor this session: edits to files in this folder, except protected files\n"+
			"--- new.txt\n+++ new.txt\n@@ -0,0 +1 @@\n+hello\n", answer)
		raw, failure := prompt.Wait()
		require.Nil(t, failure, "%v", failure)
		assert.Contains(t, string(raw), "Echo:")
		if answer == "Deny" {
			assert.NoFileExists(t, file)
		}
	}
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "hello\n", string(content))

	var state struct{ File, SessionID string }
	require.NoError(t, json.Unmarshal(do("xcsh.state", lsptest.Fields{}), &state))
	session, err := os.ReadFile(state.File)
	require.NoError(t, err)
	assert.Contains(t, string(session), `"customType":"xcsh-ls/engine"`)
	page := filepath.Join(u.work, "page.html")
	do("xcsh.export", lsptest.Fields{"path": page})
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(html), "<html")

	do("xcsh.setEngine", lsptest.Fields{"engine": "own"})
	assert.Contains(t, string(do("xcsh.prompt", lsptest.Fields{"text": "[[]] by us"})), "Echo: [[]] by us")
	whole, _ := model.Conversation()
	assert.Contains(t, whole, "[[tool:Write", "our own loop knows what Claude Code was asked")
	do("xcsh.setEngine", lsptest.Fields{"engine": "claude-agent-acp"})
	assert.Contains(t, string(do("xcsh.prompt", lsptest.Fields{"text": "[[]] in the original"})), "Echo:")

	original := state.SessionID
	do("xcsh.fork", lsptest.Fields{})
	require.NoError(t, json.Unmarshal(do("xcsh.state", lsptest.Fields{}), &state))
	require.NotEqual(t, original, state.SessionID)
	assert.Contains(t, string(do("xcsh.prompt", lsptest.Fields{"text": "[[]] in the fork"})), "Echo:")
	whole, _ = model.Conversation()
	assert.NotContains(t, whole, "in the original")
	noticed := false
	for _, m := range ed.Messages() {
		noticed = noticed || strings.Contains(string(m.Params), "claude-agent-acp starts a new conversation")
	}
	assert.True(t, noticed)
	ed.Shutdown()
}
