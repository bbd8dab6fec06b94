package regular_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func TestReadReturnsTheWholeFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	for _, size := range []int{0, 1, 100, 256 << 10, 256<<10 + 1, 3 << 20} {
		want := strings.Repeat("x", size)
		require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
		for _, limit := range []int64{int64(size), int64(size) + 1, 1 << 30} {
			got, _, err := regular.Read(t.Context(), afero.NewOsFs(), path, limit)
			require.NoError(t, err)
			require.Equal(t, want, string(got))
		}
	}
}

// The size that a file reports does not matter.
func TestReadStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, make([]byte, 1<<20), 0o600))
	_, _, err := regular.Read(t.Context(), smallerThanItIs{afero.NewOsFs()}, path, 1000)
	large, ok := errors.AsType[*regular.TooLarge](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, path, large.Path)
}

// smallerThanItIs reports 1 byte for every open file.
type smallerThanItIs struct{ afero.Fs }

func (f smallerThanItIs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	file, err := f.Fs.OpenFile(name, flag, mode)
	return smallFile{file}, err
}

type smallFile struct{ afero.File }

func (f smallFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return smallInfo{info}, err
}

type smallInfo struct{ fs.FileInfo }

func (smallInfo) Size() int64 { return 1 }

// cancelling ends a context with the n-th read of any file.
type cancelling struct {
	afero.Fs
	after  int
	cancel func()
}

func (c *cancelling) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	file, err := c.Fs.OpenFile(name, flag, mode)
	return cancellingFile{file, c}, err
}

type cancellingFile struct {
	afero.File
	c *cancelling
}

func (f cancellingFile) read() {
	if f.c.after--; f.c.after == 0 {
		f.c.cancel()
	}
}

func (f cancellingFile) Read(b []byte) (int, error) {
	f.read()
	return f.File.Read(b)
}

func (f cancellingFile) Readdir(n int) ([]fs.FileInfo, error) {
	f.read()
	return f.File.Readdir(n)
}

func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, make([]byte, 8<<20), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	files := &cancelling{afero.NewOsFs(), 3, cancel}
	_, _, err := regular.Read(ctx, files, path, 1<<30)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, files.after, "nothing is read after the end")
}

func TestDirIsSortedAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	memory := afero.NewMemMapFs()
	for _, name := range []string{"b", "a", "c"} {
		require.NoError(t, afero.WriteFile(memory, "/d/"+name, nil, 0o600))
	}
	entries, err := regular.Dir(t.Context(), memory, "/d")
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"a", "b", "c"}, names)

	dir := t.TempDir()
	for i := range 1500 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, strings.Repeat("x", i%7+1)+string(rune('a'+i/60))+string(rune('A'+i%60))), nil, 0o600))
	}
	ctx, cancel := context.WithCancel(t.Context())
	files := &cancelling{afero.NewOsFs(), 2, cancel}
	_, err = regular.Dir(ctx, files, dir)
	require.ErrorIs(t, err, context.Canceled)
	assert.Zero(t, files.after)
}

func TestADirectoryIsNoRegularFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := regular.Check(afero.NewOsFs(), dir)
	require.ErrorContains(t, err, "is a directory; use ls to list it.")
	_, err = regular.Open(afero.NewOsFs(), dir)
	require.True(t, fault.Is(err, fault.InvalidArgument), "%v", err)
}

func TestCheckOfAMissingFile(t *testing.T) {
	t.Parallel()
	info, err := regular.Check(afero.NewOsFs(), filepath.Join(t.TempDir(), "x"))
	require.NoError(t, err)
	require.Nil(t, info)
}
