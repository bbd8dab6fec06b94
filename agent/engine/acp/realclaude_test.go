//go:build peers

package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/echomodel"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func TestRealClaude(t *testing.T) {
	t.Parallel()
	r, m := newClaude(t)
	opened := r.open()
	require.NotEmpty(t, opened.Session)
	login := slices.Concat([]string{r.program.Path}, r.program.Args, []string{"--cli"})
	require.Equal(t, login, opened.Login[:min(len(login), len(opened.Login))])
	require.True(t, r.e.Can().Permission)

	r.run(`[[tool:Write {"file_path":"` + r.path("new.txt") + `","content":"hello"}]]`)
	require.FileExists(t, r.path("new.txt"))
	require.Len(t, r.host.asked, 1)
	asked := r.host.asked[0]
	require.Equal(t, []any{"write", engine.Changes, r.path("new.txt")}, []any{asked.Tool, asked.Effect, asked.Path})
	r.run(`[[tool:Edit {"file_path":"` + r.path("new.txt") + `","old_string":"ell","new_string":"ELL"}]]`)
	require.Len(t, r.host.asked, 2)
	b, err := os.ReadFile(r.path("new.txt"))
	require.NoError(t, err)
	require.Equal(t, string(b), r.host.shown[r.host.asked[1].ID+r.path("new.txt")], "what was shown is what was written")

	r.host.permit = func(context.Context, engine.Call) error { return errNo }
	r.run(`[[tool:Bash {"command":"touch made.txt","description":"x"}]]`)
	require.NoFileExists(t, r.path("made.txt"))
	require.Equal(t, "bash", r.host.asked[2].Tool)
	r.host.permit = nil

	r.host.unsaved = []string{r.path("new.txt")}
	out := r.e.Run(t.Context(), engine.Input{Text: "x"})
	require.True(t, fault.Is(out.Err, fault.Denied))
	r.host.unsaved = nil

	require.Equal(t, "aborted", r.interrupted(m, "[[endless]] one", func(cancel func()) { cancel() }).StopReason)
	r.run("[[]] second prompt")
	require.True(t, m.Saw("second prompt"))
	r.close()

	r.place.Session = opened.Session
	again := r.open()
	require.Equal(t, opened.Session, again.Session)
	require.Empty(t, again.Notices)
	r.run("[[]] third prompt")
	r.close()

	r.place.Session = "00000000-0000-4000-8000-000000000000"
	lost := r.open()
	require.Len(t, lost.Notices, 1)
	require.NotEqual(t, r.place.Session, lost.Session)
	r.close()
}

// The MCP servers of a client are started by Claude Code, which asks before it uses them.
func TestRealClaudeWithServersOfTheClient(t *testing.T) {
	t.Parallel()
	r, m := newClaude(t)
	r.poke(m, "mcp__t__poke", `[[tool:mcp__t__poke {"x":"me"}]]`)
}

func newClaude(t *testing.T) (*real, *echomodel.Service) {
	t.Helper()
	dir := installed(t, "XCSH_CLAUDE_ACP", "@agentclientprotocol", "claude-agent-acp")
	installed(t, "XCSH_CLAUDE", "@anthropic-ai", "claude-agent-sdk-"+runtime.GOOS+"-"+nodeArch, "claude")
	m := echomodel.New(t)
	return newReal(t, engine.Program{Name: "claude", Path: nodeJS(t), Args: []string{filepath.Join(dir, "dist", "index.js")}}, append(offline,
		"ANTHROPIC_BASE_URL="+m.URL, "ANTHROPIC_API_KEY=k", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")...), m
}
