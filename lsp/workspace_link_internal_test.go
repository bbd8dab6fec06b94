package lsp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/uri"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// A document that is open under its own path is also found through a link.
func TestAnOpenDocumentIsFoundThroughALink(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	path, link := filepath.Join(dir, "a.txt"), filepath.Join(dir, "link.txt")
	require.NoError(t, os.WriteFile(path, []byte("on disk"), 0o600))
	require.NoError(t, os.Symlink(path, link))
	s := &server{documents: newDocuments(zap.NewNop())}
	var open didOpenParams
	open.TextDocument.URI, open.TextDocument.Version, open.TextDocument.Text = string(uri.File(path)), 3, "in the editor"
	require.NoError(t, s.documents.didOpen(&open))
	w := workspace{s, tool.Local{Fs: afero.NewOsFs()}}

	file, err := w.ReadFile(t.Context(), link)
	require.NoError(t, err)
	require.Equal(t, "in the editor", string(file.Content))
	require.True(t, file.Dirty)
	_, err = w.WriteFile(t.Context(), "Edit", link, file, []byte("new"))
	require.Error(t, err, "the client does not support edits, and the file must not change on disk")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "on disk", string(content))
}
