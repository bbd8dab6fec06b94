package session_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// An old file in its current form has the same entries and ids, all of its other bytes, and nothing left to convert. A current or newer
// file stays as it is.
func TestWriteCurrent(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../testdata/sessions/*/*.jsonl")
	require.NoError(t, err)
	converted, same := 0, 0
	for _, fixture := range paths {
		content, err := os.ReadFile(fixture)
		require.NoError(t, err)
		fsys := afero.NewMemMapFs()
		store := session.NewStore(session.StoreConfig{Fs: fsys, DirFor: func(string) (string, error) { return "/", nil }})
		require.NoError(t, afero.WriteFile(fsys, "/was.jsonl", content, 0o600))
		was, err := store.Load("/was.jsonl")
		if err != nil {
			continue
		}
		var current bytes.Buffer
		require.NoError(t, was.WriteCurrent(&current), fixture)
		if was.Header().Version >= session.CurrentVersion {
			require.Equal(t, string(content), current.String(), fixture)
			same++
			continue
		}
		converted++
		require.NoError(t, afero.WriteFile(fsys, "/is.jsonl", current.Bytes(), 0o600))
		is, err := store.Load("/is.jsonl")
		require.NoError(t, err)
		require.Equal(t, session.CurrentVersion, is.Header().Version, fixture)
		require.Equal(t, was.Len(), is.Len())
		for i := range was.Len() {
			a, err := was.Entry(i)
			require.NoError(t, err)
			b, err := is.Entry(i)
			require.NoError(t, err)
			require.Equal(t, string(a.Raw), string(b.Raw), fixture)
		}
		var again bytes.Buffer
		require.NoError(t, is.WriteCurrent(&again))
		require.Equal(t, current.String(), again.String(), fixture)
		for n := range 3 {
			require.ErrorIs(t, was.WriteCurrent(&shortWriter{n: n}), st.ErrInjected, fixture)
		}
	}
	require.Greater(t, same, 80)
	require.Positive(t, converted)
}

// shortWriter fails after n calls.
type shortWriter struct{ n int }

func (s *shortWriter) Write(b []byte) (int, error) {
	if s.n--; s.n < 0 {
		return 0, st.ErrInjected
	}
	return len(b), nil
}
