package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
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

// secretSession is a session whose prompt contains a password twice, and a word that may be one.
func secretSession(t *testing.T, fs afero.Fs) {
	t.Helper()
	write(t, fs, file1, st.Header(id1, "/w"), st.User("aaaaaaaa", "", "use password=abc123def456, and password=abc123def456"),
		st.User("bbbbbbbb", "aaaaaaaa", `password: "swordfish"`))
	require.NoError(t, fs.MkdirAll("/w", 0o700))
}

// Secrets are replaced unless the user wants to keep them, in every format. The session file keeps them.
// An export is never blocked by doubtful text: it is kept and listed.
// Proves: F-13, AB-070
func TestExportRedacts(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	secretSession(t, fs)
	env, before := newEnv(fs), read(t, fs, file1)
	for _, format := range []string{"html", "markdown", "jsonl", "agentBase"} {
		for name, a := range map[string]args{"default": {}, "asked": {"redact": true}} {
			path := name + format + ".json"
			a["source"], a["path"], a["format"] = id1, path, format
			r := do(t, env, "xcsh.export", a)
			require.Equal(t, map[string]any{"named": 2.0}, r["redacted"], path)
			require.Equal(t, twoReplacedIn("aaaaaaaa"), r["replaced"], path)
			require.Len(t, r["doubtful"], 1)
			require.NotContains(t, read(t, fs, "/w/"+path), "abc123def456")
			require.Contains(t, read(t, fs, "/w/"+path), "swordfish")
		}
		r := do(t, env, "xcsh.export", args{"source": id1, "path": "z" + format + ".json", "format": format, "doubtful": "replace"})
		require.NotContains(t, r, "doubtful")
		require.NotContains(t, read(t, fs, "/w/z"+format+".json"), "swordfish")
		r = do(t, env, "xcsh.export", args{"source": id1, "path": "y" + format + ".json", "format": format, "redact": false})
		require.NotContains(t, r, "redacted")
		require.NotContains(t, r, "doubtful")
		require.Contains(t, read(t, fs, "/w/y"+format+".json"), "abc123def456")
	}
	require.Equal(t, before, read(t, fs, file1))
}

func twoReplacedIn(id string) []any {
	return []any{map[string]any{"kind": "named", "count": 2.0, "where": []any{id}}}
}

// A client that only runs commands does not show results, so it gets the number of secrets as a message.
func TestExportReportsReplacedSecrets(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	secretSession(t, fs)
	env, ui := newEnv(fs), &pages{}
	env.UI = ui
	do(t, env, "xcsh.export", args{"source": id1, "path": "a.md"})
	do(t, env, "xcsh.export", args{"source": id1, "path": "b.md", "redact": false})
	env.Pick = true
	do(t, env, "xcsh.export", args{"source": id1, "path": "c.md"})
	require.Equal(t, []string{"2 secrets were replaced (named 2)."}, ui.messages)
}

// The name of a file for agent-base comes from the title, which may contain a secret.
func TestExportToAgentBaseHasNoSecretInItsName(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, strings.Replace(st.Header(id1, "/w"), "}", `,"title":"password=abc123def456"}`, 1), st.User("aaaaaaaa", "", "hello"))
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	env := newEnv(fs)
	require.Equal(t, "/w/password-redacted-named.json", do(t, env, "xcsh.export", args{"source": id1, "format": "agentBase"})["path"])
	require.Equal(t, "/w/password-abc123def456.json", do(t, env, "xcsh.export", args{"source": id1, "format": "agentBase", "redact": false})["path"])
}

// pages is a client that records the files it was asked to open.
type pages struct {
	commands.Headless
	cannot           bool
	opened, messages []string
}

func (p *pages) Open(_ context.Context, path string, external bool) bool {
	p.opened = append(p.opened, fmt.Sprintf("%s external=%t", path, external))
	return !p.cannot
}

func (p *pages) OpenPage(_ context.Context, path string) bool {
	p.opened = append(p.opened, path+" by default")
	return !p.cannot
}

func (p *pages) Notify(_ context.Context, _ commands.Level, text string) {
	p.messages = append(p.messages, text)
}

// A page is opened by default; anything else only on request, and never outside the editor: the system
// would run a program, and a browser the markup in a conversation.
// Proves: O-012
func TestExportOpens(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		a           args
		off, cannot bool
		opened      []string
		is          any
	}{
		"a page":                          {a: args{"path": "a.html"}, opened: []string{"/w/a.html by default"}, is: true},
		"a page with the old extension":   {a: args{"path": "a.HTM"}, opened: []string{"/w/a.HTM by default"}, is: true},
		"a client that cannot":            {a: args{"path": "a.html"}, cannot: true, opened: []string{"/w/a.html by default"}},
		"the setting is off":              {a: args{"path": "a.html"}, off: true},
		"the call says no":                {a: args{"path": "a.html", "open": false}},
		"the call says yes":               {a: args{"path": "a.html", "open": true}, off: true, opened: []string{"/w/a.html external=true"}, is: true},
		"Markdown":                        {a: args{"path": "a.md"}},
		"Markdown on request":             {a: args{"path": "a.md", "open": true}, opened: []string{"/w/a.md external=false"}, is: true},
		"a page under a program's name":   {a: args{"path": "a.desktop", "format": "html"}},
		"such a page on request":          {a: args{"path": "a.desktop", "format": "html", "open": true}, opened: []string{"/w/a.desktop external=false"}, is: true},
		"lines under a page's name":       {a: args{"path": "a.html", "format": "jsonl"}},
		"such lines on request":           {a: args{"path": "a.html", "format": "jsonl", "open": true}, opened: []string{"/w/a.html external=false"}, is: true},
		"Markdown under a page's name":    {a: args{"path": "a.html", "format": "markdown"}},
		"agent-base's format":             {a: args{"path": "a.json"}},
		"a page that cannot be written":   {a: args{"path": "gone/a.html"}},
		"a page whose directory is a dir": {a: args{"path": "/w"}, opened: []string{"/w/xcsh-session-2026-01-01T00-00-00-000Z_" + id1 + ".html by default"}, is: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			write(t, fs, file1, talk(id1)...)
			require.NoError(t, fs.MkdirAll("/w", 0o700))
			env, ui := newEnv(fs), &pages{cannot: tc.cannot}
			env.UI, env.OpenPages = ui, !tc.off
			tc.a["source"] = id1
			raw, err := run(t.Context(), env, "xcsh.export", tc.a)
			require.Equal(t, tc.opened, ui.opened)
			require.Empty(t, ui.messages)
			if err == nil {
				var r map[string]any
				require.NoError(t, json.Unmarshal(raw, &r))
				require.Equal(t, tc.is, r["opened"])
			}
		})
	}
}

// The system prompt and the tools belong to a live session, not to one that is only read.
// Proves: O-011, O-018 (of a live session)
func TestExportOfALiveSessionHasItsInstructions(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	require.NoError(t, fs.MkdirAll("/w", 0o700))
	env := newEnv(fs, func(c *agent.Config) {
		c.System = func(context.Context, *setup.Resolved, []provider.Tool) string { return "Be brief." }
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
	require.Contains(t, read(t, fs, "/w/a.html"), `{"entries":3,"redacted":{}}`)
}

// A dump is pasted elsewhere, so its secrets are replaced, in every part of it.
// Proves: F-13
func TestADumpIsRedacted(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	secretSession(t, fs)
	env := newEnv(fs, func(c *agent.Config) {
		c.System = func(context.Context, *setup.Resolved, []provider.Tool) string {
			return "Use password=tok456ghi789jkl, please."
		}
	})
	r := do(t, env, "xcsh.dump", args{"source": id1})
	require.NotContains(t, r["text"], "abc123def456")
	require.Contains(t, r["text"], "swordfish")
	require.Equal(t, twoReplacedIn("message 1"), r["replaced"])
	require.Equal(t, map[string]any{"named": 2.0}, r["redacted"])
	require.Len(t, r["doubtful"], 1)
	require.NotContains(t, do(t, env, "xcsh.dump", args{"source": id1, "doubtful": "replace"})["text"], "swordfish")
	kept := do(t, env, "xcsh.dump", args{"source": id1, "redact": false})
	require.Contains(t, kept["text"], "abc123def456")
	require.NotContains(t, kept, "redacted")
	require.NotContains(t, kept, "doubtful")
	do(t, env, "xcsh.resume", args{"target": id1})
	require.NotContains(t, do(t, env, "xcsh.dump", nil)["text"], "tok456ghi789jkl")
	require.Contains(t, do(t, env, "xcsh.dump", args{"redact": false})["text"], "tok456ghi789jkl")
	_, err := run(t.Context(), env, "xcsh.dump", args{"doubtful": "burn"})
	require.Equal(t, "doubtful", requireKind(t, fault.InvalidArgument, err).Data["field"])
}

// A secret that only its name reveals is recognized in the other messages of a dump, too.
func TestADumpIsRedactedAsAWhole(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, st.Header(id1, "/w"), st.User("aaaaaaaa", "", "it prints Zx81-Qr7t-Lm24-Vb09"), st.User("bbbbbbbb", "aaaaaaaa", "password=Zx81-Qr7t-Lm24-Vb09"))
	require.NotContains(t, do(t, newEnv(fs), "xcsh.dump", args{"source": id1})["text"], "Zx81-Qr7t-Lm24-Vb09")
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

// Markdown has the entries of the active path only, whether or not entries share an id. Of those that do, the last one counts.
func TestMarkdownHasTheActivePath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lines       []string
		has, hasNot []string
	}{
		"branches": {
			[]string{st.User("aaaaaaaa", "", "begin"), st.User("bbbbbbbb", "aaaaaaaa", "left"), st.User("cccccccc", "aaaaaaaa", "right")},
			[]string{"begin", "right"},
			[]string{"left"},
		},
		"an id used twice": {
			[]string{st.User("aaaaaaaa", "", "begin"), st.User("bbbbbbbb", "aaaaaaaa", "first"), st.User("bbbbbbbb", "aaaaaaaa", "second"), st.User("cccccccc", "bbbbbbbb", "end")},
			[]string{"begin", "second", "end"},
			[]string{"first"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			write(t, fs, file1, append([]string{st.Header(id1, "/w")}, c.lines...)...)
			require.NoError(t, fs.MkdirAll("/w", 0o700))
			do(t, newEnv(fs), "xcsh.export", args{"source": id1, "path": "a.md"})
			content := read(t, fs, "/w/a.md")
			for _, text := range c.has {
				require.Contains(t, content, "\n## User\n\n*2026", "the heading of a message")
				require.Contains(t, content, "\n"+text+"\n")
			}
			for _, text := range c.hasNot {
				require.NotContains(t, content, "\n"+text+"\n")
			}
		})
	}
}

// A dump that a server sends is, byte for byte, the JSON of the result that other callers get.
func TestADumpIsWrittenAsItsJSON(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, st.Header(id1, "/w"), st.User("aaaaaaaa", "", "use password=abc123def456 <b> \u2028 é"), st.User("bbbbbbbb", "aaaaaaaa", `password: "swordfish"`))
	write(t, fs, file2, st.Header(id2, "/w"))
	env := newEnv(fs)
	for _, a := range []args{{"source": id1}, {"source": id1, "redact": false}, {"source": id1, "raw": true}, {"source": id2}} {
		raw, err := json.Marshal(a)
		require.NoError(t, err)
		result, err := commands.Default.Execute(t.Context(), env, "xcsh.dump", []json.RawMessage{raw})
		require.NoError(t, err)
		var want, got bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(result))
		_, err = commands.Default.Execute(commands.WithAnswer(t.Context(), &got), env, "xcsh.dump", []json.RawMessage{raw})
		require.NoError(t, err)
		require.Equal(t, want.String(), got.String()+"\n")
	}
}

// If the disk is full, a dump fails and says so. Other errors stay what they are.
func TestADumpThatCannotBeKept(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	env := newEnv(fs)
	dump := func(w io.Writer, a string) error {
		_, err := commands.Default.Execute(commands.WithAnswer(t.Context(), w), env, "xcsh.dump", []json.RawMessage{json.RawMessage(a)})
		return err
	}
	for room := range 3 {
		err := dump(&full{room: room}, `{"source":"`+id1+`"}`)
		require.Contains(t, requireKind(t, fault.IO, err).Error(), "disk is full")
	}
	requireKind(t, fault.NotFound, dump(&bytes.Buffer{}, `{"source":"nowhere"}`))
}

// full is a writer without room for more than some writes.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room--; f.room < 0 {
		return 0, errors.New("disk is full")
	}
	return len(b), nil
}
