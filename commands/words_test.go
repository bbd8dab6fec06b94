package commands_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// A tree shows on one short line the text that distinguishes an entry from the others.
// Proves: X-063
func TestPreviewOfEveryKindOfEntry(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ß😀", 200)
	previews := []struct{ entry, want string }{
		{`"type":"message","message":{"role":"user","content":"  first\tline\nsecond  line "}`, "first line second line"},
		{`"type":"message","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":""},{"type":"text","text":"b"}]}`, "a b"},
		{`"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"read"},{"type":"toolCall","id":"2","name":"edit"}]}`, "read edit"},
		{`"type":"message","message":{"role":"toolResult","toolName":"read","content":[]}`, "read"},
		{`"type":"message","message":{"role":"bashExecution","command":"ls -l","output":"x"}`, "ls -l"},
		{`"type":"message","message":{"role":"pythonExecution","code":"print(1)","output":"1"}`, "print(1)"},
		{`"type":"message"`, ""},
		{`"type":"message","message":{"role":"user","content":5}`, ""},
		{`"type":"compaction","summary":"so far"`, "so far"},
		{`"type":"branch_summary","summary":"left behind"`, "left behind"},
		{`"type":"custom_message","customType":"note","content":"look"`, "look"},
		{`"type":"custom","customType":"todo"`, "todo"},
		{`"type":"model_change","model":"offline/demo"`, "offline/demo"},
		{`"type":"thinking_level_change","thinkingLevel":"high"`, "high"},
		{`"type":"mode_change","mode":"plan"`, "plan"},
		{`"type":"zzz","text":"unknown"`, ""},
		{`"type":"message","message":{"role":"user","content":"` + long + `"}`, strings.Repeat("ß😀", 40)},
	}
	lines := []string{st.Header(id1, "/w")}
	for _, p := range previews {
		lines = append(lines, "{"+p.entry+"}")
	}
	fs := afero.NewMemMapFs()
	write(t, fs, file1, lines...)
	nodes, ok := do(t, newEnv(fs), "xcsh.tree", args{"source": id1})["nodes"].([]any)
	require.True(t, ok)
	require.Len(t, nodes, len(previews))
	for i, p := range previews {
		node, ok := nodes[i].(map[string]any)
		require.True(t, ok)
		preview, ok := node["preview"].(string)
		require.True(t, ok)
		require.Equal(t, p.want, preview, p.entry)
		require.LessOrEqual(t, len(utf16.Encode([]rune(preview))), 120)
	}
}

// A command that cannot ask the user makes no decision in their place.
// Proves, O-051
func TestWithoutAUserNothingIsDecided(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	write(t, fs, sessions+"/b.jsonl", talk("0190000000000002")...)
	write(t, fs, agentDir+"/sessions/--x--/c.jsonl", st.Header("0290000000000003", "/x"), st.User("aaaaaaaa", "", "theirs"))
	before := tree(t, fs)
	env := newEnv(fs)

	_, err := run(t.Context(), env, "xcsh.resume", nil)
	requireKind(t, fault.Cancelled, err)
	require.EqualError(t, err, "No session selected")

	_, err = run(t.Context(), env, "xcsh.resume", args{"target": "0190"})
	candidates := requireKind(t, fault.Ambiguous, err).Data["candidates"]
	require.Len(t, candidates, 2)

	_, err = run(t.Context(), env, "xcsh.resume", args{"target": "0290"})
	require.Equal(t, "/x", requireKind(t, fault.OtherProject, err).Data["cwd"])
	require.EqualError(t, err, `Session "0290" is in another project (/x).`)

	require.False(t, env.UI.Open(t.Context(), "/w/x.html", true))
	env.UI.Notify(t.Context(), commands.LevelInfo, "nothing shows this")
	p := env.UI.Progress(t.Context(), "nor this")
	p.Report("half", 50)
	p.End("done")
	require.Equal(t, before, tree(t, fs))
}

// Renaming a session that is not live changes only its header line, and adds the title for pi.
// Proves
func TestRenameOfASessionThatIsNotLive(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, `{"id":"0190000000000001","future":[1, 2],"type":"session","version":3,"cwd":"/w"}`, "junk",
		`{"type":"zzz", "parentId":null,"id":"cccccccc","n":12345678901234567890}`)
	env := newEnv(fs)
	require.Equal(t, map[string]any{"title": "A title"}, do(t, env, "xcsh.rename", args{"source": id1, "title": " A\ttitle\n"}))
	require.Equal(t, st.File(`{"id":"0190000000000001","future":[1, 2],"type":"session","version":3,"cwd":"/w","title":"A title","titleSource":"user"}`, "junk",
		`{"type":"zzz", "parentId":null,"id":"cccccccc","n":12345678901234567890}`,
		`{"type":"session_info","id":"2182654f","parentId":"cccccccc","timestamp":"2026-02-03T04:05:06.000Z","name":"A title","inHeader":true}`), read(t, fs, file1))
	require.NotEqual(t, id1, do(t, env, "xcsh.state", nil)["sessionId"])
}

func TestTableHasItsOrderAndFlags(t *testing.T) {
	t.Parallel()
	var names []string
	for _, spec := range commands.Default.Specs() {
		names = append(names, spec.Name)
		require.NotEmpty(t, spec.Doc, spec.Name)
		if spec.Arg != "" {
			require.Contains(t, fields(spec.Args), spec.Arg, "%s cannot fill what it has not", spec.Name)
		}
		requireConsistentFlags(t, spec)
	}
	require.Equal(t, names, commands.Default.Names())
	require.Panics(t, func() {
		c := commands.New(commands.Spec{Name: "twice"}, runNothing)
		commands.NewTable(c, c)
	})
}

// requireConsistentFlags checks that a command is read-only, or allowed in a restricted
// workspace because it only writes a file, or needs trust.
func requireConsistentFlags(t *testing.T, spec commands.Spec) {
	t.Helper()
	has := spec.Flags.Has
	classes := 0
	for _, class := range []bool{
		has(commands.ReadOnly), has(commands.WritesFile) && !has(commands.NeedsTrust), has(commands.NeedsTrust),
	} {
		if class {
			classes++
		}
	}
	require.Equal(t, 1, classes, spec.Name)
	require.False(t, has(commands.ReadOnly|commands.WritesFile), spec.Name)
	require.False(t, has(commands.ReadOnly|commands.NeedsIdle), "%s: a reader need not wait", spec.Name)
}

func runNothing(context.Context, *commands.Env, struct{}) (struct{}, error) { return struct{}{}, nil }
