package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Of whatever bytes a session is made, it is a healthy one, of prompts and answers to a
// model, and it is made once; else nothing is made and the error says why.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(fixtures, "agent-base", "*", "*.json"))
	require.NoError(f, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		w := newImportWorld(t)
		path := agentBase + "/talk.json"
		put(t, w.fs, path, string(source))
		im := w.importer("/w")
		r, err := im.Import(path)
		require.Equal(t, string(source), content(t, w.fs, path))
		if err != nil {
			require.True(t, fault.Is(err, fault.Damaged))
			requireSentence(t, err)
			require.Equal(t, session.Import{}, r)
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
		require.Equal(t, session.Skipped, w.take("/w", path).Status, "it is found by what its beginning says")
	})
}
