package commands_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

func TestExportFormats(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	env := newEnv(fs)
	for _, c := range []struct {
		a             args
		path, content string
	}{
		{args{}, "/w/xcsh-session-2026-01-01T00-00-00-000Z_" + id1 + ".html", "<!DOCTYPE html>"},
		{args{"format": "markdown"}, "/w/xcsh-session-2026-01-01T00-00-00-000Z_" + id1 + ".md", "\n## User\n"},
		{args{"format": "jsonl"}, "/w/xcsh-session-2026-01-01T00-00-00-000Z_" + id1 + ".jsonl", st.Header(id1, "/w") + "\n"},
		{args{"path": "a.md"}, "/w/a.md", "\n## Assistant\n"},
		{args{"path": "A.MARKDOWN"}, "/w/A.MARKDOWN", "\n## Assistant\n"},
		{args{"path": "b.md", "format": "html", "theme": "dark"}, "/w/b.md", `data-theme="dark"`},
		{args{"path": "c.html"}, "/w/c.html", `data-theme="auto"`},
	} {
		c.a["source"] = id1
		r := do(t, env, "xcsh.export", c.a)
		require.Equal(t, c.path, r["path"])
		content := read(t, fs, c.path)
		require.Contains(t, content, c.content)
		require.InDelta(t, len(content), r["bytes"], 0)
		require.NotContains(t, r, "redacted")
	}
	for field, a := range map[string]args{"format": {"format": "pdf"}, "theme": {"theme": "pink"}} {
		a["source"] = id1
		_, err := run(t.Context(), env, "xcsh.export", a)
		require.Equal(t, field, requireKind(t, fault.InvalidArgument, err).Data["field"])
	}
}

// Secrets are replaced on request, in every format. The session file keeps them.
// Proves: F-13
func TestExportRedacts(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, st.Header(id1, "/w"), st.User("aaaaaaaa", "", "use password=abc123def456, and password=abc123def456"))
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	env, before := newEnv(fs), read(t, fs, file1)
	for _, format := range []string{"html", "markdown", "jsonl"} {
		r := do(t, env, "xcsh.export", args{"source": id1, "path": "x." + format, "format": format, "redact": true})
		require.Equal(t, map[string]any{"named": 2.0}, r["redacted"])
		require.NotContains(t, read(t, fs, "/w/x."+format), "abc123def456")
		do(t, env, "xcsh.export", args{"source": id1, "path": "y." + format, "format": format})
		require.Contains(t, read(t, fs, "/w/y."+format), "abc123def456")
	}
	require.Equal(t, before, read(t, fs, file1))
}

// The system prompt and the tools belong to a live session, not to one that is only read.
// Proves: O-011, O-018 (of a live session)
func TestExportOfALiveSessionHasItsInstructions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	env := newEnv(fs, func(c *agent.Config) {
		c.System = func(context.Context, string) string { return "Be brief." }
		c.Tools = []tool.Tool{{Tool: provider.Tool{Name: "look", Description: "Look at it.", Parameters: json.RawMessage(`{"type":"object"}`)}}}
	})
	do(t, env, "xcsh.export", args{"source": id1, "path": "a.html"})
	require.NotContains(t, read(t, fs, "/w/a.html"), "Be brief.")
	require.NotContains(t, do(t, env, "xcsh.dump", args{"source": id1})["text"], "Be brief.")
	do(t, env, "xcsh.resume", args{"target": id1})
	do(t, env, "xcsh.export", args{"path": "b.html"})
	require.Contains(t, read(t, fs, "/w/b.html"), `"systemPrompt":"Be brief.","tools":[{"name":"look","description":"Look at it.","parameters":{"type":"object"}}]`)
	do(t, env, "xcsh.export", args{"path": "b.md"})
	require.Contains(t, read(t, fs, "/w/b.md"), "## System prompt\n\n```\nBe brief.\n```\n")
	require.Contains(t, do(t, env, "xcsh.dump", nil)["text"], "## System Prompt\n\nBe brief.\n")
	require.Contains(t, do(t, env, "xcsh.dump", nil)["text"], "<tool name=\"look\">\nLook at it.")
}

// An export reports the number of unreadable lines.
func TestExportCountsDamage(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, append(talk(id1), `{"type":"message","id":"torn`, st.User("cccccccc", "bbbbbbbb", "three"))...)
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	do(t, newEnv(fs), "xcsh.export", args{"source": id1, "path": "a.html"})
	require.Contains(t, read(t, fs, "/w/a.html"), `"damaged":1`)
	require.Contains(t, read(t, fs, "/w/a.html"), `{"entries":3}`)
}

// A dump is pasted and printed into terminals. raw is for programs that read it.
func TestADumpHasNoControlCharacters(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	const text = "a \u202eb \u009b2J 👩🏽‍💻"
	write(t, fs, file1, append(talk(id1), st.User("cccccccc", "bbbbbbbb", "\r\u2028"+text))...)
	env := newEnv(fs)
	require.Contains(t, do(t, env, "xcsh.dump", args{"source": id1})["text"], `a \u202eb \u009b2J 👩🏽‍💻`)
	require.Contains(t, do(t, env, "xcsh.dump", args{"source": id1})["text"], `\u000d\u2028a`)
	require.Contains(t, do(t, env, "xcsh.dump", args{"source": id1, "raw": true})["text"], text)
}
