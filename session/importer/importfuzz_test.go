package importer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session/importer"
)

// From any bytes the import makes a healthy session, with prompts and answers for a model,
// and makes it once; or it makes nothing and the error says why.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(kit.Fixtures, "agent-base", "*", "*.json"))
	require.NoError(f, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		w := newImportWorld(t)
		path := agentBase + "/talk.json"
		kit.Put(t, w.fs, path, string(source))
		im := w.importer("/w")
		r, err := im.Import(path)
		require.Equal(t, string(source), kit.Content(t, w.fs, path))
		if err != nil {
			require.True(t, fault.Is(err, fault.Damaged))
			kit.RequireSentence(t, err)
			require.Equal(t, importer.Result{}, r)
			return
		}
		doc, err := w.store.Load(r.Path)
		require.NoError(t, err)
		require.Empty(t, doc.Problems())
		for i := range doc.Len() {
			e, err := doc.Entry(i)
			require.NoError(t, err)
			require.True(t, json.Valid(e.Raw))
			require.Contains(t, []string{"", "user", "assistant"}, e.Role())
		}
		require.Equal(t, importer.Skipped, w.take("/w", path).Status, "it is found by what its beginning says")
	})
}
