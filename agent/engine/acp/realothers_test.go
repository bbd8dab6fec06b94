//go:build peers

package acp_test

import (
	"context"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/acp"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// offline keeps a program from every service: whatever it asks the network for is refused by a proxy that does not exist.
var offline = []string{
	"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "ALL_PROXY=http://127.0.0.1:9",
	"http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "all_proxy=http://127.0.0.1:9",
	"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost",
}

// nodeArch is the architecture in the names of packages with programs.
var nodeArch = map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]

func nodeJS(t *testing.T) string {
	t.Helper()
	return installed(t, "XCSH_NODE", "node-"+runtime.GOOS+"-"+nodeArch, "bin", "node")
}

// What other agents say before a user has logged in. They get no prompt: one of them would answer it with a hosted model.
func TestRealCodex(t *testing.T) {
	t.Parallel()
	cli := installed(t, "XCSH_CODEX_ACP", "@agentclientprotocol", "codex-acp", "dist", "index.js")
	installed(t, "XCSH_CODEX", "@openai", "codex-"+runtime.GOOS+"-"+nodeArch, "package.json")
	r := newReal(t, engine.Program{Name: "codex-acp", Path: nodeJS(t), Args: []string{cli}, Login: []string{"codex", "login"}}, offline...)
	r.needsLogin("codex-acp needs a login: Authentication required.")
}

func TestRealGemini(t *testing.T) {
	t.Parallel()
	cli := installed(t, "XCSH_GEMINI", "@google", "gemini-cli", "bundle", "gemini.js")
	r := newReal(t, engine.Program{Name: "gemini", Path: nodeJS(t), Args: []string{cli}}, offline...)
	r.needsLogin("gemini needs a login: Gemini API key is missing or not configured.")
}

// needsLogin requires that the agent opens no session without a login.
func (r *real) needsLogin(sentence string) {
	r.Helper()
	r.e = acp.New(r.program, acp.Options{Env: r.env})
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Minute)
	defer cancel()
	_, err := r.e.Open(ctx, r.place, r.host)
	require.EqualError(r, err, sentence)
	require.True(r, fault.Is(err, fault.Provider))
	<-r.e.Done()
}

// opencode opens a session without a login, with a model of its own.
func TestRealOpenCode(t *testing.T) {
	t.Parallel()
	program := installed(t, "XCSH_OPENCODE", "opencode-"+runtime.GOOS+"-"+nodeArch, "bin", "opencode")
	r := newReal(t, engine.Program{Name: "opencode", Path: program}, append(offline,
		"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1")...)
	opened := r.open()
	require.NotEmpty(t, opened.Session)
	require.NotEmpty(t, opened.Version)
	require.Equal(t, []string{"opencode decides by its own settings for which changes it asks for permission."}, opened.Notices)
	r.close()

	r.place.Session = opened.Session
	again := r.open()
	require.Equal(t, opened.Session, again.Session)
	r.close()
	require.DirExists(t, filepath.Join(r.home(), ".local", "share", "opencode"), "its record is its own")
}
