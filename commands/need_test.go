package commands_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// respondent answers each question with the choice that begins with the next of its answers, and each
// request for a text with a text. If no choice begins with the answer, it closes the question.
type respondent struct {
	commands.Headless
	answers []string
	text    string
	asked   []commands.Question
	wanted  []commands.InputRequest
}

func (r *respondent) Ask(_ context.Context, q commands.Question) (int, error) {
	r.asked = append(r.asked, q)
	if len(r.answers) == 0 {
		return commands.Closed, nil
	}
	answer := r.answers[0]
	r.answers = r.answers[1:]
	for i, choice := range q.Choices {
		if strings.HasPrefix(choice, answer) {
			return i, nil
		}
	}
	return commands.Closed, nil
}

func (r *respondent) Input(_ context.Context, q commands.InputRequest) (string, bool, error) {
	r.wanted = append(r.wanted, q)
	return r.text, true, nil
}

// needs returns an environment with a live conversation of eight prompts, whose entry p7 has a label,
// another that is not live, and a third in the trash.
func needs(t *testing.T) *commands.Env {
	t.Helper()
	fs := afero.NewMemMapFs()
	lines := []string{st.Header(id1, "/w")}
	parent := ""
	for i := range 8 {
		lines = append(lines, st.User(fmt.Sprintf("p%d", i), parent, fmt.Sprintf("prompt %d", i)), st.Assistant(fmt.Sprintf("a%d", i), fmt.Sprintf("p%d", i), "ok"))
		parent = fmt.Sprintf("a%d", i)
	}
	write(t, fs, file1, lines...)
	for _, id := range []string{"0190000000000002", "0190000000000003"} {
		write(t, fs, strings.Replace(file1, id1, id, 1), talk(id)...)
	}
	for _, dir := range []string{"/w", "/v", "/w/sub"} {
		require.NoError(t, fs.MkdirAll(dir, 0o700))
	}
	env := newEnv(fs, withDemo(fs))
	do(t, env, "xcsh.delete", args{"source": "0190000000000003", "confirm": true})
	do(t, env, "xcsh.resume", args{"target": id1})
	do(t, env, "xcsh.label", args{"entryId": "p7", "label": "here"})
	return env
}

// The user supplies the missing argument, and the command runs with it.
// Proves: E-01
func TestTheUserIsAskedForMissingArguments(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		command string
		args    args
		answers []string
		text    string
		asked   []string // the questions, each with its choices
		want    func(t *testing.T, env *commands.Env, result map[string]any)
	}{
		"resolve": {
			"xcsh.resolve", nil,
			[]string{"one"},
			"",
			[]string{"Select a session to resolve"},
			func(t *testing.T, _ *commands.Env, r map[string]any) { require.Equal(t, "path", r["scope"]) },
		},
		"branch": {
			"xcsh.branch", nil,
			[]string{"More…", "prompt 1"},
			"",
			[]string{
				"Select a prompt to go back to prompt 7 [here] · p7|prompt 6 · p6|prompt 5 · p5|prompt 4 · p4|prompt 3 · p3|prompt 2 · p2|More…",
				"Select a prompt to go back to prompt 1 · p1|prompt 0 · p0",
			},
			func(t *testing.T, _ *commands.Env, r map[string]any) { require.Equal(t, "prompt 1", r["editorText"]) },
		},
		"label": {
			"xcsh.label", nil,
			[]string{"prompt 7"},
			"there",
			[]string{"Select a prompt to label", "Label (here)"},
			func(t *testing.T, env *commands.Env, _ map[string]any) {
				require.Contains(t, fmt.Sprint(do(t, env, "xcsh.tree", nil)["nodes"]), "label:there")
			},
		},
		"rename": {
			"xcsh.rename", nil, nil, "New\nname",
			[]string{"New title ()"},
			func(t *testing.T, env *commands.Env, r map[string]any) {
				require.Equal(t, "New name", r["title"])
				require.Equal(t, "New name", do(t, env, "xcsh.state", nil)["title"])
			},
		},
		"rename of another": {
			"xcsh.rename",
			args{"source": "0190000000000002"},
			nil, "New",
			[]string{"New title ()"},
			func(t *testing.T, env *commands.Env, _ map[string]any) {
				require.Contains(t, read(t, env.Fs, strings.Replace(file1, id1, "0190000000000002", 1)), `"title":"New"`)
			},
		},
		"delete": {
			"xcsh.delete", nil,
			[]string{"one", "Delete"},
			"",
			[]string{"Select a session to delete", `Delete "one"? It is moved to the trash. Delete|Cancel`},
			func(t *testing.T, env *commands.Env, _ map[string]any) {
				require.NotContains(t, tree(t, env.Fs), strings.Replace(file1, id1, "0190000000000002", 1))
			},
		},
		"undelete": {
			"xcsh.undelete", nil,
			[]string{"one · 2026-02-03 04:05 · "},
			"",
			[]string{"Select a session to restore"},
			func(t *testing.T, _ *commands.Env, r map[string]any) {
				require.Equal(t, strings.Replace(file1, id1, "0190000000000003", 1), filepath.ToSlash(r["path"].(string)))
			},
		},
		"delete permanently": {
			"xcsh.deleteTrashed", nil,
			[]string{"one · 2026-02-03 04:05 · ", "Delete Permanently"},
			"",
			[]string{"Select a session to delete permanently", `Delete "one" permanently? This cannot be undone. Delete Permanently|Cancel`},
			func(t *testing.T, env *commands.Env, r map[string]any) {
				require.Equal(t, true, r["deleted"])
				require.Empty(t, do(t, env, "xcsh.trash", args{"scope": "all"})["sessions"])
			},
		},
		"move to a folder": {
			"xcsh.move",
			args{"cwd": "/w"},
			[]string{"/v"},
			"",
			[]string{"Select a directory for the session /v|Enter a path…"},
			func(t *testing.T, _ *commands.Env, r map[string]any) {
				require.Equal(t, "/v", r["session"].(map[string]any)["cwd"])
			},
		},
		"move to a path": {
			"xcsh.move",
			args{"cwd": "/w"},
			[]string{"Enter a path…"},
			" sub ",
			[]string{"Select a directory for the session /v|Enter a path…", "Select a directory for the session ()"},
			func(t *testing.T, _ *commands.Env, r map[string]any) {
				require.Equal(t, "/w/sub", filepath.ToSlash(r["session"].(map[string]any)["cwd"].(string)))
			},
		},
		"prompt": {
			"xcsh.prompt", nil, nil, "hello",
			[]string{"Message ()"},
			func(t *testing.T, env *commands.Env, r map[string]any) {
				require.Equal(t, "stop", r["stopReason"])
				require.Contains(t, fmt.Sprint(do(t, env, "xcsh.context", nil)["context"]), "text:hello")
			},
		},
		"setModel": {
			"xcsh.setModel", nil,
			[]string{"offline/demo"},
			"",
			[]string{"Select a model offline/demo"},
			func(t *testing.T, _ *commands.Env, r map[string]any) {
				require.Equal(t, map[string]any{"provider": "offline", "id": "demo"}, r["model"])
			},
		},
		"setThinking": {
			"xcsh.setThinking", nil,
			[]string{"More…", "max"},
			"",
			[]string{
				"Select a thinking level off|minimal|low|medium|high|xhigh|More…", "Select a thinking level max",
			},
			func(t *testing.T, _ *commands.Env, r map[string]any) { require.Equal(t, "off", r["thinkingLevel"]) }, // the model cannot think
		},
		"setMode": {
			"xcsh.setMode", nil,
			[]string{"Plan mode"},
			"",
			[]string{"Select a session mode Plan mode|Pause plan mode: the model may make changes, and planning continues later|No mode: the model may make changes"},
			func(t *testing.T, _ *commands.Env, r map[string]any) { require.Equal(t, "plan", r["mode"]) },
		},
		"setApproval": {
			"xcsh.setApproval", nil,
			[]string{"yolo"},
			"",
			[]string{"Select an approval mode read-only|ask|auto-edit|yolo"},
			func(t *testing.T, _ *commands.Env, r map[string]any) { require.Equal(t, "yolo", r["mode"]) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := needs(t)
			who := &respondent{answers: tc.answers, text: tc.text}
			env.UI = who
			if tc.args["cwd"] != nil {
				env.Folders = func() []string { return []string{"/w", "/v"} }
			}
			result := do(t, env, tc.command, tc.args)
			env.UI = commands.Headless{}
			if tc.args["cwd"] == nil {
				tc.want(t, env, result)
			} else {
				tc.want(t, nil, result)
			}
			who.requireAsked(t, tc.asked)
		})
	}
}

// requireAsked checks the questions, with their choices unless want has only the text, and then the
// requests for texts with their initial values.
func (r *respondent) requireAsked(t *testing.T, want []string) {
	t.Helper()
	var got []string
	for i, q := range r.asked {
		if i < len(want) && want[i] == q.Text {
			got = append(got, q.Text)
			continue
		}
		got = append(got, q.Text+" "+strings.Join(q.Choices, "|"))
	}
	for _, w := range r.wanted {
		got = append(got, fmt.Sprintf("%s (%s)", w.Title, w.Initial))
	}
	require.Equal(t, want, got)
}

// A missing argument causes the same kind of error in every command: for a client with its own picker,
// for one that cannot ask, and for a user who closed the question.
// Proves: O-068, E-01
func TestUnansweredQuestions(t *testing.T) {
	t.Parallel()
	for command, tc := range map[string]struct {
		input   commands.Input
		field   string
		choices any    // nil: the picker finds them itself
		nothing string // the error message for the user
	}{
		"xcsh.resume":        {commands.InputSession, "target", 2, "No session selected"},
		"xcsh.resolve":       {commands.InputSession, "target", 2, "No session selected"},
		"xcsh.delete":        {commands.InputSession, "source", 2, "No session selected"},
		"xcsh.undelete":      {commands.InputText, "trashed", 1, "No session selected"},
		"xcsh.deleteTrashed": {commands.InputText, "trashed", 1, "No session selected"},
		"xcsh.branch":        {commands.InputEntry, "entryId", nil, "No entry selected"},
		"xcsh.label":         {commands.InputEntry, "entryId", nil, "No entry selected"},
		"xcsh.rename":        {commands.InputText, "title", nil, "No title entered"},
		"xcsh.move":          {commands.InputText, "to", nil, "No directory selected"},
		"xcsh.prompt":        {commands.InputText, "text", nil, "No message entered"},
		"xcsh.bash":          {commands.InputText, "command", nil, "No command entered"},
		"xcsh.setModel":      {commands.InputModel, "model", []string{"offline/demo"}, "No model selected"},
		"xcsh.setThinking":   {commands.InputText, "level", provider.Levels, "No thinking level selected"},
		"xcsh.setMode":       {commands.InputText, "mode", []string{"plan", "plan_paused", "none"}, "No session mode selected"},
		"xcsh.setApproval":   {commands.InputText, "mode", approval.Modes, "No approval mode selected"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			env := needs(t)
			before := kept(t, env.Fs)
			for name, set := range map[string]func(){
				"pick":    func() { env.Pick, env.UI = true, &respondent{text: "never asked for"} },
				"no user": func() { env.Pick, env.UI = false, commands.Headless{} },
			} {
				set()
				_, err := run(t.Context(), env, command, nil)
				if name == "no user" && command == "xcsh.resume" {
					requireKind(t, fault.Cancelled, err)
					continue
				}
				f := requireKind(t, fault.ArgumentNeeded, err)
				require.Equal(t, tc.input, f.Data["input"], name)
				require.Equal(t, tc.field, f.Data["field"], name)
				if n, ok := tc.choices.(int); ok {
					require.Len(t, f.Data["choices"], n, name)
				} else {
					require.Equal(t, tc.choices, f.Data["choices"], name)
				}
			}
			env.Pick, env.UI = false, &respondent{}
			_, err := run(t.Context(), env, command, nil)
			requireKind(t, fault.Cancelled, err)
			require.EqualError(t, err, tc.nothing)
			require.Equal(t, before, kept(t, env.Fs))
		})
	}
}

// kept returns the content of every file except the lock files, which are removed some time after use.
func kept(t *testing.T, fs afero.Fs) map[string]string {
	t.Helper()
	files := tree(t, fs)
	maps.DeleteFunc(files, func(path, _ string) bool { return strings.HasSuffix(path, ".lock") })
	return files
}

// The user is not asked for an argument that the command could not use.
// Proves: E-01
func TestTheUserIsNotAskedInVain(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	who := &respondent{text: "written"}
	env.UI = who
	for command, tc := range map[string]struct {
		kind fault.Kind
		text string
	}{
		"xcsh.prompt":        {fault.Provider, "Choose a model to start."},
		"xcsh.setKey":        {fault.NotFound, "There is no provider that needs an API key."},
		"xcsh.steer":         {fault.Stale, "No turn is running in /w. Send a prompt instead."},
		"xcsh.followUp":      {fault.Stale, "No turn is running in /w. Send a prompt instead."},
		"xcsh.approve":       {fault.NotFound, "There is no pending approval in /w."},
		"xcsh.undelete":      {fault.NotFound, "The trash is empty."},
		"xcsh.deleteTrashed": {fault.NotFound, "The trash is empty."},
		"xcsh.branch":        {fault.NotFound, "The session has no prompts yet."},
		"xcsh.label":         {fault.NotFound, "The session has no prompts yet."},
		"xcsh.resolve":       {fault.NotFound, "No sessions found"},
		"xcsh.setModel":      {fault.NotFound, "No model is ready to use. Set an API key or start a local model server."},
	} {
		_, err := run(t.Context(), env, command, nil)
		requireKind(t, tc.kind, err)
		require.EqualError(t, err, tc.text)
	}
	require.Empty(t, who.asked)
	require.Empty(t, who.wanted)
}
