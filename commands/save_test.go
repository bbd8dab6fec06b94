package commands_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

const (
	id2   = "0190000000000002"
	file2 = sessions + "/2026-01-01T00-00-00-000Z_" + id2 + ".jsonl"
)

// called is talk with a title.
func called(id, title string) []string {
	lines := talk(id)
	lines[0] = strings.Replace(lines[0], "}", `,"title":"`+title+`"}`, 1)
	return lines
}

// body returns a session file without its header, the only line that a rename may change.
func body(t *testing.T, fs afero.Fs, path string) string {
	t.Helper()
	_, rest, ok := strings.Cut(read(t, fs, path), "\n")
	require.True(t, ok)
	return rest
}

// twoNamed returns an environment with a session called Talk and a live session.
func twoNamed(t *testing.T) (*commands.Env, afero.Fs) {
	t.Helper()
	fs := afero.NewMemMapFs()
	write(t, fs, file1, talk(id1)...)
	write(t, fs, file2, called(id2, "Talk")...)
	env := newEnv(fs)
	do(t, env, "xcsh.resume", args{"target": id1})
	return env, fs
}

// Proves: A-008, AB-007, AB-030, AB-035
func TestSaveNamesAndDescribes(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	for name, live := range map[string]bool{"live": true, "not live": false} {
		t.Run(name, func(t *testing.T) {
			write(t, fs, file1, talk(id1)...)
			env, a := newEnv(fs), args{"title": " My\tTalk ", "description": "about " + name}
			if live {
				do(t, env, "xcsh.resume", args{"target": id1})
			} else {
				a["source"] = id1
			}
			before := body(t, fs, file1)
			require.Equal(t, map[string]any{
				"id": id1, "path": file1, "slug": "my-talk", "title": "My Talk", "description": "about " + name, "saved": true,
			}, do(t, env, "xcsh.save", a))
			after := body(t, fs, file1)
			require.True(t, strings.HasPrefix(after, before))
			require.Equal(t, 2, strings.Count(after[len(before):], "\n"), "the title for pi and the description")
			require.Contains(t, read(t, fs, file1), `"title":"My Talk"`)
			require.NoError(t, env.Sessions.Close(t.Context()))
		})
	}
}

// A name in use is refused before anything changes. With a number, both sessions keep their names, and a
// name can be taken over. None of these changes a transcript; pi finds the title below it.
// Proves: AB-028, AB-029
func TestSaveUnderAUsedName(t *testing.T) {
	t.Parallel()
	for how, want := range map[string]struct {
		title, slug, other string
		renamed            bool
	}{
		"suffix":   {"talk-2", "talk-2", "Talk", false},
		"takeOver": {"talk", "talk", "Talk (2)", true},
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			env, fs := twoNamed(t)
			files := tree(t, fs)
			for _, refused := range []args{{"title": "talk"}, {"title": " TALK! ", "onConflict": "fail"}} {
				refused["description"] = "not stored"
				_, err := run(t.Context(), env, "xcsh.save", refused)
				f := requireKind(t, fault.NameInUse, err)
				require.Equal(t, map[string]any{"id": id2, "path": file2}, f.Data)
				require.Equal(t, files, tree(t, fs))
			}
			one, two := body(t, fs, file1), body(t, fs, file2)
			got := do(t, env, "xcsh.save", args{"title": "talk", "onConflict": how})
			require.Equal(t, want.title, got["title"])
			require.Equal(t, want.slug, got["slug"])
			require.Equal(t, want.other, do(t, env, "xcsh.info", args{"source": id2})["title"])
			require.Regexp(t, "^"+regexp.QuoteMeta(one)+`(\{"type":"session_info",[^\n]*"inHeader":true\}\n)?$`, body(t, fs, file1))
			require.Regexp(t, "^"+regexp.QuoteMeta(two)+`(\{"type":"session_info",[^\n]*"inHeader":true\}\n)?$`, body(t, fs, file2))
			if want.renamed {
				require.Equal(t, []any{map[string]any{"id": id2, "path": file2, "title": want.other}}, got["renamed"])
			} else {
				require.NotContains(t, got, "renamed")
			}
			require.Equal(t, got["title"], do(t, env, "xcsh.save", args{"title": got["title"]})["title"], "its own name is not in use")
		})
	}
}

// Taking over a name renames every other session that has it, and restores their names if the session
// itself cannot be renamed.
// Proves: AB-029
func TestTakeOver(t *testing.T) {
	t.Parallel()
	env, fs := twoNamed(t)
	third := sessions + "/third.jsonl"
	write(t, fs, third, called("third", "talk (2)")...)
	fourth := sessions + "/fourth.jsonl"
	write(t, fs, fourth, called("fourth", "TALK")...)
	got := do(t, env, "xcsh.save", args{"title": "Talk", "onConflict": "takeOver"})
	require.Len(t, got["renamed"], 2)
	titles := map[any]bool{}
	for _, source := range []string{file1, file2, third, fourth} {
		titles[do(t, env, "xcsh.info", args{"source": source})["title"]] = true
	}
	require.Len(t, titles, 4, "titles are unique: %v", titles)

	broken, fs := twoNamed(t)
	newer := sessions + "/newer.jsonl"
	lines := talk("newer")
	lines[0] = strings.Replace(lines[0], `"version":3`, `"version":99`, 1)
	write(t, fs, newer, lines...)
	_, err := run(t.Context(), broken, "xcsh.save", args{"source": newer, "title": "Talk", "onConflict": "takeOver"})
	requireKind(t, fault.NewerVersion, err)
	require.Equal(t, "Talk", do(t, broken, "xcsh.info", args{"source": id2})["title"])
}

func TestSaveRefusals(t *testing.T) {
	t.Parallel()
	env, fs := twoNamed(t)
	before := tree(t, fs)
	for field, a := range map[string]args{"title": {"title": "\x07 "}, "onConflict": {"onConflict": "replace"}} {
		_, err := run(t.Context(), env, "xcsh.save", a)
		require.Equal(t, field, requireKind(t, fault.InvalidArgument, err).Data["field"])
	}
	_, err := run(t.Context(), env, "xcsh.save", args{"source": "nobody"})
	requireKind(t, fault.NotFound, err)
	do(t, env, "xcsh.new", nil)
	_, err = run(t.Context(), env, "xcsh.save", args{"title": "Empty"})
	requireKind(t, fault.NotFound, err)
	require.NotContains(t, do(t, env, "xcsh.state", nil), "title", "nothing changed")
	require.Equal(t, before, tree(t, fs))
}

// shell adds a shell for the user's commands, which add messages without a model.
func shell(c *agent.Config) {
	s := tool.NewShell(tool.Options{})
	c.Shell = &s
}

// A session that the user saves is on disk, whether a model has answered or not.
// Proves: AB-003 (`persist: false`)
func TestSaveBeforeAnAnswer(t *testing.T) {
	t.Parallel()
	for name, inMemory := range map[string]bool{"a new session": false, "a session in memory": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			env := newEnv(fs, shell, func(c *agent.Config) { c.InMemory = inMemory })
			env.Folders = func() []string { return []string{t.TempDir()} }
			dir := t.TempDir()
			at := func(a args) args { a["cwd"] = dir; return a }
			do(t, env, "xcsh.bash", at(args{"command": "echo said"}))
			do(t, env, "xcsh.describe", at(args{"text": "early"}))
			require.Empty(t, tree(t, fs), "nothing is written before it is saved")
			require.Equal(t, false, do(t, env, "xcsh.exists", at(args{}))["exists"])
			info := do(t, env, "xcsh.info", at(args{}))
			require.Equal(t, []any{"early", 1.0}, []any{info["description"], info["messageCount"]})
			id := do(t, env, "xcsh.state", at(args{}))["sessionId"]

			saved := do(t, env, "xcsh.save", at(args{"title": "Kept"}))
			path, ok := saved["path"].(string)
			require.True(t, ok)
			require.Equal(t, map[string]any{"id": id, "path": path, "slug": "kept", "title": "Kept", "description": "early", "saved": true}, saved)
			require.Equal(t, 4, strings.Count(read(t, fs, path), "\n"), "the header, the command, the description and the title")
			require.Equal(t, map[string]any{"exists": true, "path": path}, do(t, env, "xcsh.exists", at(args{})))

			do(t, env, "xcsh.bash", at(args{"command": "echo more"}))
			require.Equal(t, 5, strings.Count(read(t, fs, path), "\n"), "from then on it is written at once")
			require.Equal(t, saved, do(t, env, "xcsh.save", at(args{})), "saving again changes nothing")
			require.Equal(t, 5, strings.Count(read(t, fs, path), "\n"))
		})
	}
}

// If saving fails, the title and the messages are either unchanged or as requested, and the session can
// be saved afterwards.
func TestNoFaultWhileSavingLosesAnything(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]args{
		"live":               {"title": "New", "description": "new"},
		"not live":           {"source": id2, "title": "New", "description": "new"},
		"taken over":         {"title": "Talk", "description": "new", "onConflict": "takeOver"},
		"described":          {"description": "new"},
		"described, on disk": {"source": id2, "description": "new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyFault(t, func(t *testing.T, fs *st.FaultFs) {
				env := newEnv(fs)
				write(t, fs.Fs, file2, called(id2, "Talk")...)
				at, mode := fs.At, fs.Mode
				*fs = st.FaultFs{Fs: fs.Fs} // no fault yet
				do(t, env, "xcsh.resume", args{"target": id1})
				one, two := body(t, fs, file1), body(t, fs, file2)
				*fs = st.FaultFs{Fs: fs.Fs, At: at, Mode: mode} // counting starts here
				_, err := run(t.Context(), env, "xcsh.save", a)
				if err != nil {
					f := requireKind(t, fault.IO, err)
					require.NotEmpty(t, f.Data["path"])
				}
				require.True(t, strings.HasPrefix(body(t, fs.Fs, file1), one))
				require.True(t, strings.HasPrefix(body(t, fs.Fs, file2), two))
				for path := range tree(t, fs.Fs) {
					require.False(t, strings.HasSuffix(path, ".tmp"), path)
				}
				*fs = st.FaultFs{Fs: fs.Fs}
				got := do(t, env, "xcsh.save", a)
				require.Equal(t, "new", got["description"])
				if a["title"] != nil {
					require.Equal(t, a["title"], got["title"])
				}
			})
		})
	}
}
