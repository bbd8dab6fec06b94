package recorded_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/recorded"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The setup that is remembered is the one that the whole path leads to, whatever is appended and wherever the leaf moves.
func TestARememberedSetupIsThatOfThePath(t *testing.T) {
	t.Parallel()
	for _, dialect := range []session.Dialect{session.Xcsh, session.Pi, session.Omp} {
		t.Run(dialect.String(), func(t *testing.T) {
			t.Parallel()
			limited := 0
			for seed := range uint64(8) {
				limited += growing(t, seed, dialect)
			}
			require.Positive(t, limited)
		})
	}
}

func growing(t *testing.T, seed uint64, dialect session.Dialect) (limited int) {
	t.Helper()
	r, fs := rand.New(rand.NewPCG(seed, 1)), afero.NewMemMapFs()
	store := session.NewStore(session.StoreConfig{
		Fs: fs, RootFor: func(string) (session.FileRoot, bool) { return session.FileRoot{Dialect: dialect}, true },
	})
	const path = "/s/a.jsonl"
	require.NoError(t, afero.WriteFile(fs, path, []byte(`{"type":"session","version":3,"id":"0123456789abcdef","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}`+"\n"), 0o600))
	ids := []string{""}
	add := func() {
		id, parent := fmt.Sprintf("%08x", len(ids)), ids[len(ids)-1]
		if r.IntN(6) == 0 {
			parent = ids[r.IntN(len(ids))]
		}
		if r.IntN(60) == 0 {
			parent = fmt.Sprintf("%08x", len(ids)+2) // which may follow
		}
		parentID := "null"
		if parent != "" {
			parentID = `"` + parent + `"`
		}
		body := []string{
			`"type":"message","message":{"role":"user","content":"hi","timestamp":1}`, `"type":"message","message":{"role":"user","content":"hi","timestamp":1}`,
			`"type":"message","message":{"role":"user","content":"hi","timestamp":1}`,
			fmt.Sprintf(`"type":"session_init","systemPrompt":"p%d","tools":["t%d"]`, len(ids), len(ids)),
			fmt.Sprintf(`"type":"message","message":{"role":"system","toolsAdded":[{"name":"t%d"}],"timestamp":1}`, len(ids)),
		}[r.IntN(5)]
		f, err := fs.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = fmt.Fprintf(f, `{"id":"%s","parentId":%s,"timestamp":"2025-01-01T00:00:00.000Z",%s}`+"\n", id, parentID, body)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		ids = append(ids, id)
	}
	add()
	log, err := store.Open(path)
	require.NoError(t, err)
	var m recorded.Memory
	for range 150 {
		switch r.IntN(4) {
		case 0:
			if id := ids[r.IntN(len(ids))]; id != "" {
				require.NoError(t, log.Branch(id))
			}
		default:
			add()
			if r.IntN(3) == 0 {
				add()
			}
			_, err := log.Refresh()
			require.NoError(t, err)
			if r.IntN(2) == 0 {
				require.NoError(t, log.Branch(ids[len(ids)-1]))
			}
		}
		require.NoError(t, log.View(func(d *session.Document, leaf session.Leaf) error {
			want, err := recorded.Of(d, leaf)
			require.NoError(t, err)
			got, err := m.Of(d, leaf)
			require.NoError(t, err)
			require.Equal(t, want, got)
			if strings.HasPrefix(want.Prompt, "p") || want.Limits() {
				limited++
			}
			return nil
		}))
	}
	require.NoError(t, log.Close())
	return limited
}
