package tool_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "old\n"})
	require.Equal(t, "Successfully wrote 4 bytes to x.", w.ok("write", `{"path":"x","content":"new\n"}`))
	require.Equal(t, "new\n", w.read("x"))
	require.Equal(t, "x already has this content.", w.ok("write", `{"path":"x","content":"new\n"}`))
	require.Equal(t, "Successfully wrote 0 bytes to a/b/empty.", w.ok("write", `{"file_path":"a/b/empty","content":""}`))
	require.Empty(t, w.read("a/b/empty"))
	w.ok("write", `{"path":"y","content":"a\r\nb < c & \u00e9"}`)
	require.Equal(t, "a\r\nb < c & é", w.read("y"))
}

func TestWritePreview(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "old\n"})
	preview := func(args string) tool.Preview {
		p, err := w.tools["write"].Preview(t.Context(), w.env, json.RawMessage(args))
		require.NoError(t, err)
		return p
	}
	require.Equal(t, tool.Preview{Title: "Overwrite x", Diff: "--- x\n+++ x\n@@ -1 +1 @@\n-old\n+new\n", Paths: []string{"/w/x"}, Target: "/w/x", Base: tool.Sum([]byte("old\n"))},
		preview(`{"path":"x","content":"new\n"}`))
	require.Equal(t, tool.Preview{Title: "Create d/y", Diff: "--- d/y\n+++ d/y\n@@ -0,0 +1 @@\n+new\n", Paths: []string{"/w/d/y"}, Target: "/w/d/y", Base: tool.Sum(nil)},
		preview(`{"path":"d/y","content":"new\n"}`))
	_, err := w.fs.Stat("/w/d")
	require.ErrorIs(t, err, fs.ErrNotExist, "a preview changes nothing")
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, map[string]string{"file": "", "dir/x": ""})
	require.Equal(t, `write needs the parameter "content".`, w.refused("write", `{"path":"x"}`))
	require.Equal(t, "write needs a path.", w.refused("write", `{"path":"","content":""}`))
	require.Contains(t, w.refused("write", `{"path":"dir","content":""}`), "dir is a directory")
	require.Equal(t, "Cannot read "+w.path("file/sub/x")+": not a directory.", w.refused("write", `{"path":"file/sub/x","content":""}`))
}

// write is a change of a file that is there, or that is not.
func change(ctx context.Context, fsys afero.Fs, path string, content string) error {
	local := tool.Local{Fs: fsys}
	was, err := local.ReadFile(ctx, path)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	_, err = local.WriteFile(ctx, "", path, was, []byte(content))
	return err
}

// Whichever step fails, the file is the old one or the new one, and no other file is left.
func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path string
		was        any
	}{{"a file that is there", "/d/x", "old"}, {"a new file", "/d/new", nil}, {"a new directory", "/d/sub/new", nil}} {
		for _, mode := range []st.Mode{st.Once, st.Short} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				st.RunStorage(t, func(t *testing.T, disk afero.Fs) {
					reached := 0
					for at := 1; ; at++ {
						require.NoError(t, disk.RemoveAll("/d"))
						require.NoError(t, disk.MkdirAll("/d", 0o700))
						require.NoError(t, afero.WriteFile(disk, "/d/x", []byte("old"), 0o600))
						faulty := &st.FaultFs{Fs: disk, At: at, Mode: mode}
						err := change(t.Context(), faulty, c.path, "a new content")
						if !faulty.Fired() {
							require.NoError(t, err)
							require.GreaterOrEqual(t, reached, 4)
							break
						}
						reached++
						requireOldOrNew(t, disk, c.path, c.was, err)
					}
				})
			})
		}
	}
}

func requireOldOrNew(t *testing.T, disk afero.Fs, path string, was any, err error) {
	t.Helper()
	content, readErr := afero.ReadFile(disk, path)
	switch {
	case err == nil:
		require.Equal(t, "a new content", string(content))
	case was == nil:
		require.ErrorIs(t, readErr, fs.ErrNotExist)
	default:
		require.Equal(t, was, string(content))
	}
	if err != nil {
		require.ErrorIs(t, err, st.ErrInjected)
		require.Contains(t, err.Error(), filepath.Dir(path))
	}
	require.NoError(t, afero.Walk(disk, "/d", func(p string, _ fs.FileInfo, err error) error {
		require.NotContains(t, p, ".tmp")
		return err
	}))
}

func TestAWriteKeepsModeAndLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(script, []byte("#!"), 0o600))
	require.NoError(t, os.Chmod(script, 0o751))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink("script", link))
	far := filepath.Join(dir, "far")
	require.NoError(t, os.Symlink(link, far))
	dangling := filepath.Join(dir, "dangling")
	require.NoError(t, os.Symlink("not yet", dangling))
	loop := filepath.Join(dir, "loop")
	require.NoError(t, os.Symlink("loop", loop))

	require.NoError(t, change(t.Context(), afero.NewOsFs(), far, "#!/bin/sh"))
	for _, path := range []string{script, link, far} {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "#!/bin/sh", string(content))
	}
	info, err := os.Lstat(far)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&fs.ModeSymlink)
	info, err = os.Lstat(script)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o751), info.Mode())

	require.NoError(t, change(t.Context(), afero.NewOsFs(), dangling, "now"))
	require.FileExists(t, filepath.Join(dir, "not yet"))
	_, err = tool.Local{Fs: afero.NewOsFs()}.WriteFile(t.Context(), "", loop, tool.File{}, []byte("x"))
	require.ErrorContains(t, err, "too many symbolic links")
}

// The target of a link is relative to its own location, not to the path that leads there.
func TestWriteThroughRelativeLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "deep", "er"), 0o700))
	require.NoError(t, os.Symlink(filepath.FromSlash("deep/er"), filepath.Join(dir, "short")))
	require.NoError(t, os.Symlink(filepath.FromSlash("../new"), filepath.Join(dir, "deep", "er", "up")))
	require.NoError(t, change(t.Context(), afero.NewOsFs(), filepath.Join(dir, "short", "up"), "text"))
	require.FileExists(t, filepath.Join(dir, "deep", "new"))
}

func TestLocalReadsOnlyFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	local := tool.Local{Fs: afero.NewOsFs()}
	_, err := local.ReadFile(t.Context(), dir)
	require.ErrorContains(t, err, "is a directory")
	_, err = local.ReadFile(t.Context(), os.DevNull)
	require.ErrorContains(t, err, "is not a regular file")
	_, err = local.ReadFile(t.Context(), filepath.Join(dir, "nope"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.True(t, fault.Is(err, fault.NotFound))

	big := filepath.Join(dir, "big")
	f, err := os.Create(big)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(65<<20))
	require.NoError(t, f.Close())
	_, err = local.ReadFile(t.Context(), big)
	require.EqualError(t, err, big+" is 65.0MB; the limit is 64.0MB. Use bash with head, tail or sed -n to see a part of it.")
}

func TestACancelledWriteWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": "old\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.tools["write"].Run(ctx, w.env, json.RawMessage(`{"path":"x","content":"new"}`))
	require.ErrorIs(t, err, context.Canceled)
	_, err = tool.Local{Fs: w.fs}.WriteFile(ctx, "", "/w/x", tool.File{Exists: true, Content: []byte("old\n")}, []byte("new"))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "old\n", w.read("x"))
}

// A long name leaves no room for another one made of it.
func TestAWriteOfAFileWithTheLongestName(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), strings.Repeat("x", 255))
	require.NoError(t, change(t.Context(), afero.NewOsFs(), path, "a"))
	require.NoError(t, change(t.Context(), afero.NewOsFs(), path, "b"))
}
