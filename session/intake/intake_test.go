package intake_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// folder is a directory with a file, a directory and a file outside of it.
func folder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "w")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
	for _, name := range []string{"file", "sub/file", "../outside"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("content"), 0o600))
	}
	return dir
}

func link(t *testing.T, to, path string) {
	t.Helper()
	require.NoError(t, os.Symlink(to, path))
}

func TestReadBelowFollowsLinksWithinTheFolder(t *testing.T) {
	dir := folder(t)
	link(t, "sub/file", filepath.Join(dir, "inside"))
	link(t, "inside", filepath.Join(dir, "twice"))
	for _, name := range []string{"file", "sub/file", "sub/../file", "inside", "twice"} {
		f, err := intake.ReadBelow(afero.NewOsFs(), dir, name, 100)
		require.NoError(t, err, name)
		assert.Equal(t, "content", string(f.Content))
		assert.False(t, f.Cut)
		assert.True(t, f.Info.Mode().IsRegular())
	}
}

func TestReadBelowRefuses(t *testing.T) {
	dir := folder(t)
	link(t, "../outside", filepath.Join(dir, "relative"))
	link(t, filepath.Join(dir, "..", "outside"), filepath.Join(dir, "absolute"))
	link(t, filepath.Join(dir, "file"), filepath.Join(dir, "absolute-inside"))
	link(t, "..", filepath.Join(dir, "up"))
	link(t, "loop", filepath.Join(dir, "loop"))
	link(t, "../missing", filepath.Join(dir, "dangling-outside"))
	for _, name := range []string{"relative", "absolute", "absolute-inside", "dangling-outside", "loop", "sub", ".", "../outside", filepath.Join(dir, "file")} {
		_, err := intake.ReadBelow(afero.NewOsFs(), dir, name, 100)
		refused, ok := errors.AsType[*intake.Refused](err)
		require.True(t, ok, "%s: %v", name, err)
		assert.NotEmpty(t, refused.Why)
	}
	_, err := intake.ReadBelow(afero.NewOsFs(), dir, "up/outside", 100)
	require.Error(t, err)
	link(t, "missing", filepath.Join(dir, "dangling"))
	for _, name := range []string{"missing", "dangling"} {
		_, err := intake.ReadBelow(afero.NewOsFs(), dir, name, 100)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	_, err = intake.ReadBelow(afero.NewOsFs(), filepath.Join(dir, "none"), "file", 100)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestReadIsBounded(t *testing.T) {
	dir := folder(t)
	for limit, want := range map[int64]string{3: "con", 7: "content", 0: ""} {
		f, err := intake.Read(afero.NewOsFs(), filepath.Join(dir, "file"), limit)
		require.NoError(t, err)
		assert.Equal(t, want, string(f.Content))
		assert.Equal(t, limit < 7, f.Cut)
	}
	_, err := intake.ReadAll(afero.NewOsFs(), filepath.Join(dir, "file"), 6)
	require.ErrorContains(t, err, "it is longer than 6 bytes")
	content, err := intake.ReadAll(afero.NewOsFs(), filepath.Join(dir, "file"), 7)
	require.NoError(t, err)
	assert.Equal(t, "content", string(content))
}

func TestTheUsersOwnFilesMayBeLinks(t *testing.T) {
	dir := folder(t)
	link(t, "../outside", filepath.Join(dir, "own"))
	content, err := intake.ReadAll(afero.NewOsFs(), filepath.Join(dir, "own"), 100)
	require.NoError(t, err)
	assert.Equal(t, "content", string(content))
	_, err = intake.Open(afero.NewOsFs(), dir)
	require.ErrorContains(t, err, "it is a directory")
}

func TestOtherFileSystems(t *testing.T) {
	memory := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(memory, "/w/file", []byte("content"), 0o600))
	f, err := intake.ReadBelow(memory, "/w", "file", 3)
	require.NoError(t, err)
	assert.Equal(t, "con", string(f.Content))
	_, err = intake.ReadBelow(memory, "/", "w", 3)
	require.ErrorContains(t, err, "it is a directory")
	_, err = intake.ReadBelow(memory, "/w", "none", 3)
	require.ErrorIs(t, err, fs.ErrNotExist)

	dir := folder(t)
	link(t, "file", filepath.Join(dir, "inside"))
	wrapped := afero.NewReadOnlyFs(afero.NewOsFs())
	_, err = intake.ReadBelow(wrapped, dir, "inside", 3)
	require.ErrorContains(t, err, "it is a symbolic link")
	_, err = intake.ReadBelow(wrapped, dir, "file", 3)
	require.NoError(t, err)
}

func FuzzReadBelowStaysInside(f *testing.F) {
	f.Add("file")
	f.Add("../outside")
	f.Add("sub/../../outside")
	f.Add("up/outside")
	dir := filepath.Join(f.TempDir(), "w")
	require.NoError(f, os.MkdirAll(filepath.Join(dir, "sub"), 0o700))
	require.NoError(f, os.WriteFile(filepath.Join(dir, "file"), []byte("inside"), 0o600))
	require.NoError(f, os.WriteFile(filepath.Join(dir, "..", "outside"), []byte("SECRET"), 0o600))
	require.NoError(f, os.Symlink("..", filepath.Join(dir, "up")))
	f.Fuzz(func(t *testing.T, name string) {
		file, err := intake.ReadBelow(afero.NewOsFs(), dir, name, 100)
		if err == nil && !strings.Contains(string(file.Content), "inside") {
			t.Fatalf("%q reads %q", name, file.Content)
		}
	})
}
