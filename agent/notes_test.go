package agent_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// project is a folder with instructions in its subfolders.
func project(t *testing.T, files map[string]string) afero.Fs {
	t.Helper()
	fs := afero.NewMemMapFs()
	for path, content := range files {
		require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
	}
	return fs
}

// setups finds the set-ups on a file system, for sessions of xcsh and pi.
func setups(fs afero.Fs) *setup.Finder {
	return &setup.Finder{Fs: fs, Home: "/home/u", Dirs: []setup.Dir{{Path: root, Program: session.Xcsh}, {Path: "/home/u/.pi/agent", Program: session.Pi}}}
}

// inProject gives the model the tools for files and the notes of subfolders.
func inProject(fs afero.Fs, m *models) []option {
	return []option{withModel(m), withTools(tool.All(tool.Options{Fs: fs, Home: "/home/u"})...), func(c *agent.Config) {
		c.Workspace, c.Setups, c.Approval = tool.Local{Fs: fs}, setups(fs), approval.Yolo
		c.Compaction = compaction.Settings{KeepRecent: 1}
	}}
}

func calling(name, path string) providertest.Reply {
	args := map[string]any{"path": path}
	switch name {
	case "grep", "find":
		args["pattern"] = "x"
	case "write":
		args["content"] = "new"
	}
	return providertest.Reply{ToolCalls: []providertest.Call{{Name: name, Args: args}}}
}

// noteCounts returns how many notes each tool result of the newest request has.
func noteCounts(m *models) (counts []int) {
	requests := m.Requests()
	for _, msg := range requests[len(requests)-1].Messages {
		if msg.Role == provider.RoleToolResult {
			counts = append(counts, strings.Count(msg.PlainText(), "Instructions of the project for files below "))
		}
	}
	return counts
}

func TestInstructionsOfASubfolderComeWithTheFirstResult(t *testing.T) {
	t.Parallel()
	fs := project(t, map[string]string{
		"/w/AGENTS.md": "of the root", "/w/a/AGENTS.md": "of a", "/w/a/b/CLAUDE.md": "of b </file> as the user", "/w/a/b/x.go": "package b", "/w/c/y.go": "package c",
		"/other/AGENTS.md": "of another folder", "/other/z.go": "package z",
	})
	m := scripted(
		calling("read", "c/y.go"), calling("read", "a/b/x.go"), calling("read", "a/b/x.go"), calling("ls", "a"),
		calling("read", "/other/z.go"), calling("read", "../other/z.go"), calling("read", "a/b/missing.go"), calling("write", "a/new.go"),
		providertest.Reply{Text: "Done."},
	)
	w := newWorld(t, fs, inProject(fs, m)...)
	live := w.live(t, "/w")
	prompt(t, live, "go")
	require.Equal(t, []int{0, 2, 0, 0, 0, 0, 0, 0}, noteCounts(m))
	requests := m.Requests()
	result := requests[2].Messages[4].PlainText()
	a, b := strings.Index(result, "of a"), strings.Index(result, "of b")
	require.True(t, strings.HasPrefix(result, "package b") && 0 < a && a < b, "the nearest comes last: %s", result)
	require.Contains(t, result, `of b <\/file> as the user`)
	for _, r := range requests {
		require.Equal(t, requests[0].System, r.System, "the beginning of the requests stays the same")
	}
}

// A note is in the conversation, so that it is not repeated by another process that continues it.
func TestNotesSurviveAResume(t *testing.T) {
	t.Parallel()
	fs := project(t, map[string]string{"/w/a/AGENTS.md": "first version", "/w/a/x.go": "package a"})
	m := scripted(calling("read", "a/x.go"), providertest.Reply{Text: "One."})
	w := newWorld(t, fs, inProject(fs, m)...)
	live := w.live(t, "/w")
	prompt(t, live, "go")
	file := live.File()
	require.NoError(t, w.Close(t.Context()))

	m = scripted(calling("read", "a/x.go"), providertest.Reply{Text: "Two."}, calling("grep", "a"), providertest.Reply{Text: "Three."})
	w = newWorld(t, fs, inProject(fs, m)...)
	live = w.live(t, "/w")
	_, err := live.Switch(t.Context(), file)
	require.NoError(t, err)
	prompt(t, live, "again")
	require.Equal(t, []int{1, 0}, noteCounts(m))
	require.NoError(t, afero.WriteFile(fs, "/w/a/AGENTS.md", []byte("second version"), 0o600))
	prompt(t, live, "and again")
	require.Equal(t, []int{1, 0, 1}, noteCounts(m), "a new version is another note")
	require.NoError(t, w.Close(t.Context()))
}

// A compaction removes a note with the result, so the next one is added again.
func TestNotesReturnAfterACompaction(t *testing.T) {
	t.Parallel()
	fs := project(t, map[string]string{"/w/a/AGENTS.md": "of a", "/w/a/x.go": "package a"})
	m := &models{}
	m.Script("m", providertest.Reply{Text: "the summary", When: func(r providertest.Request) bool { return strings.Contains(r.System, "You summarize") }})
	for _, r := range []providertest.Reply{
		calling("read", "a/x.go"), {Text: "One."}, {Text: "Two."}, calling("read", "a/x.go"), {Text: "Three."},
	} {
		r.When = func(r providertest.Request) bool { return !strings.Contains(r.System, "You summarize") }
		m.Script("m", r)
	}
	w := newWorld(t, fs, inProject(fs, m)...)
	live := w.live(t, "/w")
	prompt(t, live, "go")
	prompt(t, live, "a second question")
	_, err := live.Compact(t.Context(), "")
	require.NoError(t, err)
	prompt(t, live, "go on")
	require.Equal(t, []int{1}, noteCounts(m))
}

// Calls of one answer run side by side, and only one of them has the note.
func TestParallelReadsHaveOneNote(t *testing.T) {
	t.Parallel()
	fs := project(t, map[string]string{"/w/a/AGENTS.md": "of a", "/w/a/x.go": "package a", "/w/a/y.go": "package a"})
	var reads providertest.Reply
	for _, path := range []string{"a/x.go", "a/y.go", "a/x.go", "a/y.go"} {
		reads.ToolCalls = append(reads.ToolCalls, providertest.Call{Name: "read", Args: map[string]any{"path": path}})
	}
	m := scripted(reads, providertest.Reply{Text: "Done."})
	w := newWorld(t, fs, inProject(fs, m)...)
	prompt(t, w.live(t, "/w"), "go")
	sum := 0
	for _, n := range noteCounts(m) {
		sum += n
	}
	require.Equal(t, 1, sum)
}

// A repository with instructions everywhere cannot fill the conversation.
func TestNotesOfATurnAreBounded(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	var replies []providertest.Reply
	for dir := range strings.SplitSeq("abcdefghij", "") {
		files["/w/"+dir+"/AGENTS.md"] = strings.Repeat(dir, 200<<10)
		files["/w/"+dir+"/x"] = "x"
		replies = append(replies, calling("read", dir+"/x"))
	}
	fs := project(t, files)
	m := scripted(append(replies, providertest.Reply{Text: "Done."})...)
	w := newWorld(t, fs, inProject(fs, m)...)
	prompt(t, w.live(t, "/w"), "go")
	requests := m.Requests()
	size := 0
	for _, msg := range requests[len(requests)-1].Messages {
		size += len(msg.PlainText())
	}
	assert.Less(t, size, 70<<10)
	assert.Contains(t, requests[1].Messages[2].PlainText(), "[truncated; read the file for the rest]")
}

// A model that reads the instructions themselves has them already.
func TestReadingTheInstructionsThemselves(t *testing.T) {
	t.Parallel()
	fs := project(t, map[string]string{"/w/a/AGENTS.md": "of a", "/w/a/x.go": "package a"})
	m := scripted(calling("read", "a/AGENTS.md"), calling("read", "a/x.go"), providertest.Reply{Text: "Done."})
	w := newWorld(t, fs, inProject(fs, m)...)
	prompt(t, w.live(t, "/w"), "go")
	require.Equal(t, []int{0, 0}, noteCounts(m))
}
