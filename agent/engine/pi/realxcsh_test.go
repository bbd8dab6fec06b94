//go:build peers && unix

package pi

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// The real xcsh is in no registry. XCSH_BIN names one.
func TestRealXcsh(t *testing.T) {
	binary := os.Getenv("XCSH_BIN")
	if binary == "" {
		t.Skip("XCSH_BIN names no xcsh")
	}
	w := newForkedWorld(t, ".xcsh")
	w.program.Name, w.program.Path = "xcsh", absolute(t, binary)
	unsaved := w.file("unsaved.txt", "on disk\n")
	w.service.Script(
		"m",
		providertest.Reply{Text: "hello"},
		providertest.Reply{ToolCalls: call("read", object{"path": "unsaved.txt"})},
		providertest.Reply{ToolCalls: call("bash", object{"command": "touch made"})},
		providertest.Reply{ToolCalls: call("write", object{"path": "unsaved.txt", "content": "lost"})},
		providertest.Reply{Text: "done"},
		providertest.Reply{Text: "beside"},
	)
	h := newHost(t)
	h.unsaved = []string{unsaved}
	h.permit = func(context.Context, engine.Call) error { return errors.New("not in this folder") }
	e, opened := w.open(h)
	require.Equal(t, w.place.File, opened.File)
	require.True(t, e.Can().Permission)
	require.Equal(t, "hello", w.run(e, "hi").text())
	out := w.run(e, "go")
	require.NoError(t, out.Err)
	require.Equal(t, "done", out.text())
	require.NoFileExists(t, filepath.Join(w.cwd, "made"))
	require.Equal(t, "on disk\n", w.text(unsaved))
	require.Len(t, h.calls, 1)
	h.wait("xcsh reads files from disk, and doesn't see the unsaved changes in unsaved.txt.")

	second := w.entry(opened.File, `"go"`)
	moved, err := e.Move(t.Context(), second, engine.Summary{})
	require.NoError(t, err)
	require.Equal(t, "go", moved.Text)
	require.Equal(t, "beside", w.run(e, "third").text())
	_, err = e.Compact(t.Context(), "")
	require.Error(t, err)
	require.NoError(t, e.Reread(t.Context()))
	require.Equal(t, 1, strings.Count(w.text(opened.File), `"type":"session"`))
}
