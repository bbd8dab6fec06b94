//go:build peers && unix

package pi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

type outcome loop.Outcome

func (o outcome) text() string {
	if o.Message == nil {
		return ""
	}
	return o.Message.PlainText()
}

func TestRealPiAnswersInASessionOfOurs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.Script("m", providertest.Reply{Thinking: "hm", Text: "hello"})
	h := newHost(t)
	e, opened := w.open(h)
	require.Equal(t, provider.Ref{Provider: "fake", ID: "m"}, opened.Model)
	require.Equal(t, "1.5.2", opened.Version)
	require.Equal(t, w.dir, filepath.Dir(opened.File))
	require.Contains(t, opened.File, w.place.ID)
	require.Equal(t, engine.Can{Steer: true, Branch: true, Compact: true, Images: true, Files: true, Permission: true, Models: true, Login: true}, e.Can())

	out := w.run(e, "hi")
	require.NoError(t, out.Err)
	require.Equal(t, "hello", out.text())
	require.Equal(t, provider.StopEnd, out.StopReason)
	require.Equal(t, 20, out.Usage.Output)
	require.Empty(t, out.Unanswered)
	require.Equal(t, []string{"user", "assistant"}, h.roles())
	require.FileExists(t, opened.File)
	require.True(t, has(h.all(), "leaf "))
}

func TestRealPiReadsAndChangesDocumentsOfTheEditor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := w.file("open.txt", "on disk\n")
	w.service.Script(
		"m",
		providertest.Reply{ToolCalls: call("read", object{"path": "open.txt"})},
		providertest.Reply{ToolCalls: call("edit", object{"path": "open.txt", "edits": []object{{"oldText": "unsaved two", "newText": "changed"}}})},
		providertest.Reply{ToolCalls: call("write", object{"path": "new/other.txt", "content": "hello"})},
		providertest.Reply{ToolCalls: call("bash", object{"command": "env | grep -c XCSH"})},
		providertest.Reply{Text: "done"},
	)
	h := newHost(t)
	buffer := "unsaved one\nunsaved two\n"
	h.read = func(p string) (string, bool, error) { return buffer, p == path, nil }
	h.write = func(_, p, text string) (bool, error) {
		if p == path {
			buffer = text
		}
		return p == path, nil
	}
	e, opened := w.open(h)
	out := w.run(e, "go")
	require.NoError(t, out.Err)
	require.Equal(t, "done", out.text())
	require.Equal(t, "unsaved one\nchanged\n", buffer)
	disk, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "on disk\n", string(disk))
	disk, err = os.ReadFile(filepath.Join(w.cwd, "new", "other.txt"))
	require.NoError(t, err)
	require.Equal(t, "hello", string(disk))

	require.Len(t, h.calls, 4)
	require.Equal(t, engine.Reads, h.calls[0].Effect)
	require.Equal(t, path, h.calls[0].Path)
	h.calls = h.calls[1:]
	require.Equal(t, engine.Changes, h.calls[0].Effect)
	require.Equal(t, path, h.calls[0].Path)
	content, err := h.calls[0].Apply(tool.File{Exists: true, Content: []byte("unsaved one\nunsaved two\n")})
	require.NoError(t, err)
	require.Equal(t, buffer, string(content))
	require.Equal(t, engine.Changes, h.calls[1].Effect)
	require.Equal(t, filepath.Join(w.cwd, "new", "other.txt"), h.calls[1].Path)
	require.Equal(t, engine.Runs, h.calls[2].Effect)
	require.True(t, has(h.all(), `message {"role":"toolResult"`, `"toolName":"read"`, "unsaved two"))
	require.True(t, has(h.all(), `message {"role":"toolResult"`, `"toolName":"bash"`, `"text":"0\n`), "the mark is not in the environment of commands: %q", h.all())
	require.FileExists(t, opened.File)
}

func TestRealPiTellsTheModelWhyACallWasDenied(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.Script("m", providertest.Reply{ToolCalls: call("bash", object{"command": "touch made"})}, providertest.Reply{Text: "ok"})
	h := newHost(t)
	h.permit = func(_ context.Context, _ engine.Call) error { return errors.New("not in this folder") }
	e, _ := w.open(h)
	out := w.run(e, "go")
	require.NoError(t, out.Err)
	require.Equal(t, "ok", out.text())
	require.True(t, has(h.all(), `"role":"toolResult"`, `"isError":true`, "not in this folder"))
	require.NoFileExists(t, filepath.Join(w.cwd, "made"))
}
