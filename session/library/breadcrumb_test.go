package library_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

const crumbs = "/home/zed/.xcsh/agent/terminal-sessions"

// Proves: X-161
func TestReadBreadcrumb(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content, cwd, file string
		ok                       bool
	}{
		{"two lines and a newline", "/w\n/s/a.jsonl\n", "/w", "/s/a.jsonl", true},
		{"no final newline", "/w\n/s/a.jsonl", "/w", "/s/a.jsonl", true},
		{"lines ended by CR LF", "/w\r\n/s/a.jsonl\r\n", "/w", "/s/a.jsonl", true},
		{"what omp writes behind", "/w\n/s/a.jsonl\nfresh\ncwdstat 1 2\n", "/w", "/s/a.jsonl", true},
		{"the directory is cleaned", "/w/x/../\n/s/a.jsonl\n", "/w", "/s/a.jsonl", true},
		{"paths with spaces", "/w w\n/s/a b.jsonl\n", "/w w", "/s/a b.jsonl", true},
		{"one line", "/w\n", "", "", false},
		{"an empty first line", "\n/s/a.jsonl\n", "", "", false},
		{"an empty second line", "/w\n\nfresh\n", "", "", false},
		{"nothing", "", "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fs := afero.NewMemMapFs()
			require.NoError(t, afero.WriteFile(fs, crumbs+"/t1", []byte(c.content), 0o600))
			cwd, file, ok := library.ReadBreadcrumb(fs, crumbs, "t1")
			require.Equal(t, c.ok, ok)
			if ok {
				require.Equal(t, [2]string{c.cwd, c.file}, [2]string{cwd, file})
			}
		})
	}
	for _, id := range []string{"t1", "", "."} {
		_, _, ok := library.ReadBreadcrumb(afero.NewMemMapFs(), crumbs, id)
		require.False(t, ok, "%q", id)
	}
}

// Proves: X-013
func TestWriteBreadcrumbOnDisk(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "agent", "terminal-sessions")
	fs := afero.NewOsFs()
	require.NoError(t, library.WriteBreadcrumb(fs, dir, "t1", "/w", "/s/old.jsonl"))
	require.NoError(t, library.WriteBreadcrumb(fs, dir, "t1", "/w", "/s/a.jsonl"))
	content, err := os.ReadFile(filepath.Join(dir, "t1"))
	require.NoError(t, err)
	require.Equal(t, "/w\n/s/a.jsonl\n", string(content))
	if filepath.Separator == '/' {
		for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "t1"): 0o600} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), path)
		}
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
}

// Proves, F-29, AB-021
func TestBreadcrumbNeverEscapes(t *testing.T) {
	t.Parallel()
	for _, id := range []string{
		"../../x", `..\..\x`, "/etc/passwd", "..", "a/../../b", "x\x00y", "...", ".hidden", "a\nb", strings.Repeat("é", 300),
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			dir := filepath.Join(top, "agent", "terminal-sessions")
			require.NoError(t, library.WriteBreadcrumb(afero.NewOsFs(), dir, id, "/w", "/s/a.jsonl"))
			var files []string
			require.NoError(t, filepath.Walk(top, func(path string, info os.FileInfo, err error) error {
				if err == nil && !info.IsDir() {
					files = append(files, filepath.Dir(path))
					require.NotRegexp(t, `\\|\.\.|^\.`, filepath.Base(path))
				}
				return err
			}))
			require.Equal(t, []string{dir}, files)
			_, file, ok := library.ReadBreadcrumb(afero.NewOsFs(), dir, id)
			require.True(t, ok, "and it is found again")
			require.Equal(t, "/s/a.jsonl", file)
		})
	}
}

// Proves: X-166
func TestWriteBreadcrumbFails(t *testing.T) {
	t.Parallel()
	err := library.WriteBreadcrumb(afero.NewReadOnlyFs(afero.NewMemMapFs()), crumbs, "t1", "/w", "/s/a.jsonl")
	require.Equal(t, fault.ReadOnly, fault.KindOf(err))
	for _, c := range [][3]string{{"", "/w", "/s"}, {"t1", "", "/s"}, {"t1", "/w", ""}, {"t1", "/w\n/x", "/s"}, {"t1", "/w", "/s\r"}} {
		fs := afero.NewMemMapFs()
		err := library.WriteBreadcrumb(fs, crumbs, c[0], c[1], c[2])
		require.Equal(t, fault.InvalidArgument, fault.KindOf(err), "%q", c)
		exists, err := afero.DirExists(fs, crumbs)
		require.NoError(t, err)
		require.False(t, exists)
	}

	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "t1", "full"), 0o700))
	require.Error(t, library.WriteBreadcrumb(afero.NewOsFs(), dir, "t1", "/w", "/s/a.jsonl"), "a directory has the name")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")
}

// noRenameFs fails every rename.
type noRenameFs struct{ afero.Fs }

func (noRenameFs) Rename(from, _ string) error {
	return &os.PathError{Op: "rename", Path: from, Err: os.ErrPermission}
}

func TestWriteBreadcrumbLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	require.NoError(t, library.WriteBreadcrumb(fs, crumbs, "t1", "/w", "/s/old.jsonl"))
	err := library.WriteBreadcrumb(noRenameFs{fs}, crumbs, "t1", "/w", "/s/a.jsonl")
	require.Equal(t, fault.ReadOnly, fault.KindOf(err))
	entries, err := afero.ReadDir(fs, crumbs)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	_, file, ok := library.ReadBreadcrumb(fs, crumbs, "t1")
	require.True(t, ok)
	require.Equal(t, "/s/old.jsonl", file)
}

// Proves, F-33
func TestFinderBreadcrumb(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	f := kit.NewFinder(fs)
	old := kit.SessionsRoot + "/--w--/old.jsonl"
	kit.PutSession(t, fs, old, kit.Chat("old", "/w", "hello"), 0)
	require.NoError(t, library.WriteBreadcrumb(fs, crumbs, "t1", "/w", old))
	for _, c := range []struct {
		name, cwd, terminal string
		ok                  bool
	}{
		{"this terminal in this directory", "/w", "t1", true},
		{"a trailing slash does not matter", "/w/", "t1", true},
		{"another directory", "/v", "t1", false},
		{"another terminal", "/w", "t2", false},
		{"no terminal", "/w", "", false},
	} {
		file, ok := f.Breadcrumb(c.cwd, c.terminal)
		require.Equal(t, c.ok, ok, c.name)
		if ok {
			require.Equal(t, old, file)
		}
	}
	peer := library.AgentPlaces("/home/zed/.pi/agent")
	require.NoError(t, library.WriteBreadcrumb(fs, peer.Terminals, "t2", "/w", old))
	f.Roots = append([]library.Root{{Places: peer, Dialect: session.Pi}}, f.Roots...)
	_, ok := f.Breadcrumb("/w", "t2")
	require.False(t, ok, "another program's breadcrumbs are not followed")
	f.RealPath = links(map[string]string{"/v": "/w"})
	_, ok = f.Breadcrumb("/v", "t1")
	require.False(t, ok, "directories are compared without following links")
	require.NoError(t, fs.Remove(old))
	_, ok = f.Breadcrumb("/w", "t1")
	require.False(t, ok, "the file is gone")
	require.NoError(t, fs.MkdirAll(old, 0o700))
	_, ok = f.Breadcrumb("/w", "t1")
	require.False(t, ok, "the file is a directory")
	f.Roots = nil
	_, ok = f.Breadcrumb("/w", "t1")
	require.False(t, ok)
}
