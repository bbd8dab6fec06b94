//go:build peers

package differential

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// server builds the server once.
var server = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "xcsh-ls-hosted")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "xcsh-ls")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/xcsh-ls").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("the server cannot be built: %w\n%s", err, out)
	}
	return path, err
})

// user is a user with pi, in a folder of their own.
type user struct {
	t       *testing.T
	service service
	home    string
	work    string
}

func newUser(t *testing.T, replies ...providertest.Reply) *user {
	t.Helper()
	u := newUserWithoutPrograms(t, replies...)
	u.install(piProgram)
	return u
}

// newUserWithoutPrograms is a user who has no program on the PATH.
func newUserWithoutPrograms(t *testing.T, replies ...providertest.Reply) *user {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	u := &user{t: t, service: newService(t, provider.AnthropicMessages), home: filepath.Join(root, "home"), work: filepath.Join(root, "work")}
	require.NoError(t, os.MkdirAll(u.work, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(u.work, "notes.txt"), []byte("one\ntwo\n"), 0o600))
	u.service.Script("theirs", replies...)
	bin := filepath.Join(root, "bin")
	require.NoError(t, os.MkdirAll(bin, 0o700))
	return u
}

// editor starts the built server in the user's folder, with pi as the engine.
func (u *user) editor() *lsptest.Editor { return u.editorWith(lsptest.Fields{}) }

// editorWith is an editor with further settings.
func (u *user) editorWith(settings lsptest.Fields) *lsptest.Editor {
	u.t.Helper()
	path, err := server()
	require.NoError(u.t, err)
	cmd := exec.Command(path, "--stdio") //nolint:noctx // the editor ends it
	cmd.Dir = u.work
	cmd.Env = []string{
		"PATH=" + filepath.Join(filepath.Dir(u.home), "bin") + ":" + os.Getenv("PATH"), "HOME=" + u.home,
		"TERM=dumb", "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_NO_TITLE=1",
	}
	ed := lsptest.StartProcess(u.t, cmd)
	options := lsptest.Fields{"engine": "pi", "approval": "yolo"}
	maps.Copy(options, settings)
	ed.Initialize(lsptest.Fields{
		"initializationOptions": options, "capabilities": lsptest.Fields{},
		"workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(u.work), "name": "w"}},
	})
	return ed
}

// sessions returns the only session file of pi in the user's folder.
func (u *user) session() string {
	u.t.Helper()
	files, err := filepath.Glob(filepath.Join(u.home, ".pi", "agent", "sessions", "*", "*.jsonl"))
	require.NoError(u.t, err)
	require.Len(u.t, files, 1)
	return files[0]
}

var (
	entryID = regexp.MustCompile(`"(id|parentId|targetId|firstKeptEntryId)":"([0-9a-f]{8})"`)
	varying = regexp.MustCompile(`("timestamp":|"durationMs":|"responseId":)("[^"]*"|[0-9.]+)`)
	header  = regexp.MustCompile(`^\{"type":"session","version":3,"id":"[^"]*"`)
)

// account returns a session file with the parts that differ from run to run replaced.
func (u *user) account(path string) []string {
	u.t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(u.t, err)
	names := map[string]string{}
	text := entryID.ReplaceAllStringFunc(string(raw), func(member string) string {
		m := entryID.FindStringSubmatch(member)
		if names[m[2]] == "" {
			names[m[2]] = "e" + strconv.Itoa(len(names))
		}
		return `"` + m[1] + `":"` + names[m[2]] + `"`
	})
	text = varying.ReplaceAllString(strings.ReplaceAll(text, filepath.Dir(u.home), "ROOT"), "${1}0")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	lines[0] = header.ReplaceAllString(lines[0], `{"type":"session","version":3,"id":"ID"`)
	return lines
}

var (
	hostedPrompts = []string{"hello", "read the notes and change them", "bye"}
	hostedReplies = []providertest.Reply{
		{Text: "Hello <you> 😀."},
		{Text: "I look.", ToolCalls: []providertest.Call{{Name: "read", Args: map[string]any{"path": "notes.txt"}}}},
		{Text: "I change.", ToolCalls: []providertest.Call{{Name: "edit", Args: map[string]any{
			"path": "notes.txt", "edits": []any{map[string]any{"oldText": "two", "newText": "three"}},
		}}}},
		{Text: "I run.", ToolCalls: []providertest.Call{{Name: "bash", Args: map[string]any{"command": "cat notes.txt"}}}},
		{Text: "Done."},
		{Text: "Bye."},
	}
)

// What pi writes when it answers in an editor is what it writes alone; records of the changes follow.
func TestPiInAnEditorWritesWhatPiWritesAlone(t *testing.T) {
	t.Parallel()
	alone, hosted := newUser(t, hostedReplies...), newUser(t, hostedReplies...)
	p := startProgram(t, piProgram, alone.service, alone.home, alone.work, "")
	for i, text := range hostedPrompts {
		p.prompt(text, []string{"Hello", "Done.", "Bye."}[i])
	}
	p.stop()
	ed := hosted.editor()
	for _, text := range hostedPrompts {
		_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": text})
		require.Nil(t, failure, "%v", failure)
	}
	ed.Shutdown()
	lines := hosted.account(hosted.session())
	records := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !strings.Contains(line, `"customType":"xcsh-ls.change"`) })
	assert.Len(t, records, 1, "what pi changed is recorded behind its lines")
	assert.Equal(t, alone.account(alone.session()), lines[:len(lines)-len(records)])
	for _, u := range []*user{alone, hosted} {
		content, err := os.ReadFile(filepath.Join(u.work, "notes.txt"))
		require.NoError(t, err)
		assert.Equal(t, "one\nthree\n", string(content))
	}
	entries, err := os.ReadDir(filepath.Join(hosted.home, ".xcsh"))
	if err == nil {
		for _, e := range entries {
			assert.NotEqual(t, "sessions", e.Name(), "no session of ours")
		}
	}
}

// A session goes from pi to an editor and back, each continuing what the other said.
func TestASessionGoesFromTheTerminalToTheEditorAndBack(t *testing.T) {
	t.Parallel()
	u := newUser(t, hostedReplies[0], hostedReplies[5], providertest.Reply{Text: "Again."})
	p := startProgram(t, piProgram, u.service, u.home, u.work, "")
	p.prompt("hello", "Hello")
	p.stop()
	path := u.session()
	ed := u.editor()
	_, failure := ed.Exec("xcsh.continue", lsptest.Fields{})
	require.Nil(t, failure, "%v", failure)
	raw, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "bye"})
	require.Nil(t, failure, "%v", failure)
	assert.Contains(t, string(raw), "Bye.")
	var state struct{ File, LeafID string }
	raw, failure = ed.Exec("xcsh.state", lsptest.Fields{})
	require.Nil(t, failure, "%v", failure)
	require.NoError(t, json.Unmarshal(raw, &state))
	assert.Equal(t, path, state.File)
	ed.Shutdown()
	p = startProgram(t, piProgram, u.service, u.home, u.work, path)
	p.prompt("again", "Again.")
	p.stop()
	requests := u.service.Requests()
	last := requests[len(requests)-1]
	assert.Len(t, last.Messages, 5, "pi continues what was said in the editor")
	assert.Equal(t, path, u.session())
}

// pi edits a file and runs a command in an editor; the changes of both are listed, and a rewind undoes
// them. The lines that pi wrote stay, and pi continues the session.
func TestWhatPiDidInAnEditorIsRewound(t *testing.T) {
	t.Parallel()
	u := newUser(t, append(slices.Clone(hostedReplies[:4]),
		providertest.Reply{Text: "I run.", ToolCalls: []providertest.Call{{Name: "bash", Args: map[string]any{"command": "printf made > made.txt; printf four >> notes.txt"}}}},
		providertest.Reply{Text: "Done."}, providertest.Reply{Text: "Bye."})...)
	ed := u.editor()
	for _, text := range hostedPrompts[:2] {
		_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": text})
		require.Nil(t, failure, "%v", failure)
	}
	before := u.account(u.session())
	var changes struct {
		PromptID string
		Files    []struct{ Path, Status string }
	}
	raw, failure := ed.Exec("xcsh.changes", lsptest.Fields{})
	require.Nil(t, failure, "%v", failure)
	require.NoError(t, json.Unmarshal(raw, &changes))
	require.Len(t, changes.Files, 2)
	assert.Equal(t, []string{"added", "modified"}, []string{changes.Files[0].Status, changes.Files[1].Status})

	_, failure = ed.Exec("xcsh.rewind", lsptest.Fields{"before": changes.PromptID, "dryRun": false})
	require.Nil(t, failure, "%v", failure)
	content, err := os.ReadFile(filepath.Join(u.work, "notes.txt"))
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", string(content))
	assert.NoFileExists(t, filepath.Join(u.work, "made.txt"))

	_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": hostedPrompts[2]})
	require.Nil(t, failure, "%v", failure)
	ed.Shutdown()
	assert.Equal(t, before, u.account(u.session())[:len(before)], "the lines of pi stay")
	p := startProgram(t, piProgram, u.service, u.home, u.work, u.session())
	p.stop()
}
