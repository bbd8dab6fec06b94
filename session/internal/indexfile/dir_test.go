package indexfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// A reader keeps the file that it opened, and keeps no writer from replacing it: also on Windows, which replaces no file
// that is open.
func TestAnOpenFileIsReplaced(t *testing.T) {
	t.Parallel()
	d := indexfile.Dir{Fs: afero.NewOsFs(), Path: t.TempDir(), Max: indexfile.DefaultMax, Now: time.Now}
	name := indexfile.Name("x") + ".idx"
	section := func(content string) indexfile.Section {
		return indexfile.Section{Size: int64(len(content)), Block: 4, Fill: func(n int, b []byte) { copy(b, content[4*n:]) }}
	}
	require.NoError(t, d.Write(name, []byte("old"), section("old content")))
	reader, err := d.Open(name)
	require.NoError(t, err)
	require.NoError(t, d.Write(name, []byte("new"), section("new content")))
	block, err := reader.Block(0, 1)
	require.NoError(t, err)
	require.Equal(t, "cont", string(block))
	require.Equal(t, "old", string(reader.Facts))
	require.NoError(t, reader.Close())
	d.Remove(name)
	_, err = d.Open(name)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestTheLimitConcernsOurFilesOnly: others in the directory neither count nor are removed, and links are not followed.
func TestTheLimitConcernsOurFilesOnly(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	d := indexfile.Dir{Fs: afero.NewOsFs(), Path: filepath.Join(top, "index"), Max: 3500, Now: time.Now}
	require.NoError(t, os.MkdirAll(d.Path, 0o700))
	at := func(name string) string { return filepath.Join(d.Path, name) }
	old := time.Now().Add(-48 * time.Hour)
	foreign := []string{"thesis.txt", "notes.idx", indexfile.Name("x") + ".idx.bak", ".tmp", "my.tmp"}
	for _, name := range foreign {
		require.NoError(t, os.WriteFile(at(name), make([]byte, 5000), 0o600))
		require.NoError(t, os.Chtimes(at(name), old, old))
	}
	target := filepath.Join(top, "target")
	require.NoError(t, os.WriteFile(target, []byte("mine"), 0o600))
	require.NoError(t, os.Chtimes(target, old, old))
	linked := indexfile.Name("link") + ".idx"
	links := os.Symlink(target, at(linked)) == nil
	left := indexfile.Name("y") + ".ext.77.tmp"
	require.NoError(t, os.WriteFile(at(left), []byte("half"), 0o600))
	require.NoError(t, os.Chtimes(at(left), old, old))

	names := make([]string, 5)
	for n := range names {
		names[n] = indexfile.Name(fmt.Sprint(n)) + ".idx"
		require.NoError(t, d.Write(names[n], make([]byte, 1000)))
		used := time.Now().Add(time.Duration(n-10) * time.Minute)
		require.NoError(t, os.Chtimes(at(names[n]), used, used))
	}
	for n, name := range names {
		_, err := os.Stat(at(name))
		require.Equal(t, n < 2, os.IsNotExist(err), "%d: the ones used least recently go", n)
	}
	require.NoFileExists(t, at(left))
	for _, name := range foreign {
		require.FileExists(t, at(name))
	}
	if links {
		_, err := d.Open(linked)
		require.ErrorIs(t, err, indexfile.ErrDamaged)
		info, err := os.Stat(target)
		require.NoError(t, err)
		require.True(t, info.ModTime().Equal(old), "its use is not noted in what the link leads to")
		require.NoError(t, d.Write(linked, []byte("facts")))
		content, err := os.ReadFile(target)
		require.NoError(t, err)
		require.Equal(t, "mine", string(content), "the link was replaced")
	}
}
