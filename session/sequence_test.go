package session_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Lines yields the same lines as Entry, of small files from memory and of large ones from disk, with lines of every
// length.
func TestLinesAreTheEntries(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	for _, lines := range []int{3, 900} {
		content := []string{st.Header("0190000000000001", "/w"), "junk"}
		parent := ""
		for i := range lines {
			id := fmt.Sprintf("%08x", i)
			content = append(content, st.User(id, parent, strings.Repeat("x", (i*i*7919)%300_000/(1+i%17))))
			parent = id
		}
		path := filepath.Join(t.TempDir(), "s.jsonl")
		fs := afero.NewOsFs()
		require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(content...)), 0o600))
		d, err := session.Load(fs, path)
		require.NoError(t, err)
		i := 0
		for line, err := range d.Lines(nil) {
			require.NoError(t, err)
			e, err := d.Entry(i)
			require.NoError(t, err)
			require.Equal(t, string(e.Raw), string(line), "entry %d", i)
			i++
		}
		require.Equal(t, lines, i)
		for _, err := range d.Lines(nil) {
			require.NoError(t, err)
			break
		}
		require.NoError(t, d.Close())
	}
}

// With a blob store, references to images are replaced with the images; a reference to a missing image stays.
func TestLinesWithImages(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	sum := sha256.Sum256([]byte("picture"))
	hash, gone := hex.EncodeToString(sum[:]), strings.Repeat("0", 64)
	require.NoError(t, afero.WriteFile(fs, "/b/"+hash, []byte("picture"), 0o600))
	entry := func(data string) string {
		return `{"type":"message","id":"aaaaaaaa","parentId":null,"message":{"role":"user","content":[{"type":"image","data":"` + data + `","mimeType":"image/png"}]}}`
	}
	for in, want := range map[string]string{"blob:sha256:" + hash: "cGljdHVyZQ==", "blob:sha256:" + gone: "blob:sha256:" + gone} {
		d, err := session.Parse([]byte(st.File(st.Header("0190000000000001", "/w"), entry(in))))
		require.NoError(t, err)
		for line, err := range d.Lines(session.BlobDir{Fs: fs, Dir: "/b"}) {
			require.NoError(t, err)
			require.Equal(t, entry(want), string(line))
		}
		for line, err := range d.Lines(nil) {
			require.NoError(t, err)
			require.Equal(t, entry(in), string(line))
		}
	}
}

// If a large file was truncated, Lines ends with an error.
func TestLinesOfAFileThatShrank(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	fs := afero.NewOsFs()
	content := []string{st.Header("0190000000000001", "/w")}
	for i := range 100 {
		content = append(content, st.User(fmt.Sprintf("%08x", i), "", strings.Repeat("x", 100_000)))
	}
	require.NoError(t, afero.WriteFile(fs, path, []byte(st.File(content...)), 0o600))
	d, err := session.Load(fs, path)
	require.NoError(t, err)
	file, err := fs.OpenFile(path, 1, 0)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(1<<20))
	require.NoError(t, file.Close())
	var last error
	n := 0
	for _, err := range d.Lines(nil) {
		n++
		last = err
	}
	require.ErrorContains(t, last, "it became shorter while it was open")
	require.Less(t, n, 12)
	require.NoError(t, d.Close())
}
