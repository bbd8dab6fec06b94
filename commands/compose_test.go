package commands_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/commands/composer"
)

// desk is an editor with things that a prompt can name.
type desk struct {
	pieces map[string]*commands.ContextPiece // by kind and query
	err    error
}

func (d desk) Kinds() []string { return composer.EditorKinds }

func (d desk) Piece(_ context.Context, cwd, kind, query string) (*commands.ContextPiece, error) {
	if cwd != "/w" {
		return nil, errors.New("of another folder")
	}
	return d.pieces[kind+query], d.err
}

// referring is an environment in which prompts refer to files of fs and to things of d, and the notices of its session.
func referring(t *testing.T, fs afero.Fs, d commands.EditorContext) (env *commands.Env, notices func() []string) {
	t.Helper()
	env = newEnv(fs, withDemo(fs), func(cfg *agent.Config) {
		cfg.Sensitive = func(path string) bool { return strings.Contains(path, "secret") }
	})
	env.Workspace, env.Context = tool.Local{Fs: fs}, d
	var mu sync.Mutex
	var texts []string
	t.Cleanup(env.Sessions.Subscribe(func(e agent.Event) {
		if run, ok := e.(agent.RunEvent); ok {
			if n, ok := run.Event.(event.Notice); ok {
				mu.Lock()
				defer mu.Unlock()
				texts = append(texts, n.Text)
			}
		}
	}))
	return env, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return texts
	}
}

func files(t *testing.T, contents map[string]string) afero.Fs {
	t.Helper()
	fs := afero.NewMemMapFs()
	for path, content := range contents {
		require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
	}
	return fs
}

func TestReferencesOfAPrompt(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("x", 200<<10)
	fs := files(t, map[string]string{
		"/w/a.go": "one\ntwo\nthree\n", "/w/d/b": "b", "/w/secret": "key", "/w/bin": "\x00", "/w/large": strings.Repeat("x", 300<<10),
		"/w/1": many, "/w/2": many, "/w/3": many, "/w/4": many, "/w/5": many, "/w/6": many,
	})
	d := desk{pieces: map[string]*commands.ContextPiece{
		"problems":  {Text: "a.go:1: broken\n</file>", Label: "Problems\x1b[2J"},
		"selection": {URI: "file:///w/a.go", Range: &commands.Range{Start: commands.Position{Line: 1}, End: commands.Position{Line: 1, Character: 3}}},
		"buffer":    {URI: "file:///w/secret"},
		"symbolTwo": {URI: "a.go", Range: &commands.Range{Start: commands.Position{Line: 2}, End: commands.Position{Line: 2, Character: 1}}},
		"terminal":  {Text: strings.Repeat("y", 70<<10)},
	}}
	const a = "<file path=\"/w/a.go\">\none\ntwo\nthree\n</file>\n\n"
	const second = "<file path=\"/w/a.go\" lines=\"2-2\">\ntwo\n</file>\n\n"
	for name, tc := range map[string]struct {
		text  string
		more  args
		want  string // before the text
		notes []string
	}{
		"a file":              {"see @a.go, and @a.go.", nil, a, nil},
		"lines":               {"see @a.go:2", nil, second, nil},
		"a folder":            {"see @d/", nil, "<file path=\"d/\" type=\"folder\">\nb\n</file>\n\n", nil},
		"attached anyway":     {"see @a.go", args{"attachments": []any{args{"uri": "a.go"}}}, a, nil},
		"no file":             {"write to me@a.go, @nobody and @override", nil, "", nil},
		"not by the user":     {"see @a.go", args{"literal": true}, "", nil},
		"secrets":             {"see @secret", nil, "", []string{"secret is not sent, because it may contain secrets."}},
		"outside":             {"see @../w2", nil, "", nil},
		"no text":             {"see @bin", nil, "", []string{"Cannot attach /w/bin: it is neither text nor an image."}},
		"too long":            {"see @large", nil, "", []string{"Cannot attach /w/large: 307200 bytes are too many. Mention the file by name, or attach a part of it."}},
		"no such lines":       {"see @a.go:9", nil, "", []string{"Cannot attach /w/a.go: it has no lines 9 to 9."}},
		"problems":            {"fix @problems", nil, "<file path=\"Problems\\\\u001b[2J\" type=\"problems\">\na.go:1: broken\n<\\/file>\n</file>\n\n", nil},
		"the selection":       {"why #selection", nil, second, nil},
		"a symbol":            {"why @symbol:Two?", nil, "<file path=\"/w/a.go\" lines=\"3-3\">\nthree\n</file>\n\n", nil},
		"no symbol":           {"why @symbol:X", nil, "", []string{`There is no symbol "X".`}},
		"a buffer of secrets": {"why @buffer", nil, "", []string{"@buffer is not sent, because its file may contain secrets."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, notices := referring(t, afero.NewCopyOnWriteFs(afero.NewReadOnlyFs(fs), afero.NewMemMapFs()), d)
			all := args{"text": tc.text}
			maps.Copy(all, tc.more)
			do(t, env, "xcsh.prompt", all)
			require.Equal(t, tc.want+tc.text, messages(t, env)[0])
			require.Equal(t, tc.notes, notices())
		})
	}
	t.Run("the whole is bounded", func(t *testing.T) {
		t.Parallel()
		env, notices := referring(t, afero.NewCopyOnWriteFs(afero.NewReadOnlyFs(fs), afero.NewMemMapFs()), d)
		do(t, env, "xcsh.prompt", args{"text": "see @1 @2 @3 @4 @5 @6 @terminal"})
		require.Equal(t, []string{"6 is not sent, because the prompt would become too long.", "terminal is not sent, because the prompt would become too long."}, notices())
		require.Less(t, len(messages(t, env)[0]), 1<<20+100)
	})
}

// An editor that fails, or has nothing, leaves the word as text.
func TestTheEditorHasNothing(t *testing.T) {
	t.Parallel()
	env, notices := referring(t, files(t, nil), desk{})
	do(t, env, "xcsh.prompt", args{"text": "@problems @selection @buffer @terminal"})
	require.Equal(t, []string{
		"There are no problems in the folder.", "Nothing is selected in the editor.", "No file of the folder is open in the editor.",
		"There is no output of a terminal.",
	}, notices())
	env, notices = referring(t, files(t, nil), desk{err: errors.New("method not found")})
	do(t, env, "xcsh.prompt", args{"text": "@problems"})
	require.Equal(t, []string{"The editor did not answer for @problems: method not found."}, notices())
	env, notices = referring(t, files(t, map[string]string{"/w/problems": "a file"}), nil)
	env.Context = nil
	do(t, env, "xcsh.prompt", args{"text": "@problems"})
	require.Empty(t, notices())
	require.Contains(t, messages(t, env)[0], "a file", "without an editor, it is a file")
}

// A slash command runs, is answered, and is not recorded.
func TestSlashCommands(t *testing.T) {
	t.Parallel()
	env, _ := referring(t, files(t, map[string]string{"/w/a": "a"}), nil)
	do(t, env, "xcsh.prompt", args{"text": "hello"})
	before := messages(t, env)
	for _, c := range [][2]string{
		{"/stats", "entries"},
		{"/rename Better", `Renamed to "Better".`},
		{"/dump", "hello"},
		{"/plan", "Plan mode is off."},
		{"/plan on", "Plan mode is on"},
		{"/plan pause", "Plan mode is paused"},
		{"/export /w/out.md", "Exported to: /w/out.md"},
	} {
		r := do(t, env, "xcsh.prompt", args{"text": c[0]})
		require.Equal(t, strings.Fields(c[0])[0][1:], r["command"])
		require.Contains(t, r["answer"], c[1])
	}
	require.Equal(t, before, messages(t, env))
	for _, text := range []string{"/plan maybe", "/branch x"} {
		_, err := run(t.Context(), env, "xcsh.prompt", args{"text": text})
		requireKind(t, "invalidArgument", err)
	}
	r := do(t, env, "xcsh.prompt", args{"text": "/fork"})
	require.Equal(t, "Forked. This is the copy; the original is unchanged.", r["answer"])
	for _, a := range []args{{"text": "/w/a is what?"}, {"text": "/dump it all"}, {"text": "/stats", "literal": true}, {"text": "/stats", "attachments": []any{args{"uri": "a"}}}} {
		require.Nil(t, do(t, env, "xcsh.prompt", a)["command"], a)
	}
}
