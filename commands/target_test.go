package commands

import (
	"context"
	"io/fs"
	"os"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// countingFs counts calls of Stat.
type countingFs struct {
	afero.Fs
	stats *int
}

func (c countingFs) Stat(name string) (os.FileInfo, error) {
	*c.stats++
	return c.Fs.Stat(name)
}

// countingFinder counts calls of TargetPath and finds no session by name.
type countingFinder struct {
	library.Finder
	paths, searches *int
}

func (c countingFinder) TargetPath(cwd, target string) (string, bool, error) {
	*c.paths++
	return c.Finder.TargetPath(cwd, target)
}

func (c countingFinder) Resolve(context.Context, string, string, library.ResolveOptions) (library.Resolution, error) {
	*c.searches++
	return library.Resolution{}, nil
}

func TestAPathIsResolvedAndStatOnce(t *testing.T) {
	t.Parallel()
	const file, quoted = "/w/a.jsonl", `/w/'b.jsonl'`
	for _, test := range []struct {
		name, target, path             string
		create                         bool
		wantPaths, wantStats, searches int
	}{
		{name: "a path", target: file, path: file, wantPaths: 1, wantStats: 1},
		{name: "a relative path", target: "a.jsonl", path: file, wantPaths: 1, wantStats: 1},
		{name: "a new path", target: "/w/new.jsonl", path: "/w/new.jsonl", create: true, wantPaths: 1, wantStats: 1},
		{name: "a quoted path", target: `"/w/a.jsonl"`, path: file, wantPaths: 2, wantStats: 2},
		{name: "a name with quotes", target: quoted, path: quoted, wantPaths: 1, wantStats: 1},
		{name: "an ID", target: "0190", wantPaths: 1, searches: 1},
		{name: "a missing path", target: "/w/missing.jsonl", wantPaths: 1, wantStats: 1, searches: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var stats, paths, searches int
			files := afero.NewMemMapFs()
			for _, name := range []string{file, quoted} {
				require.NoError(t, afero.WriteFile(files, name, []byte("{}\n"), 0o600))
			}
			r := resolver{finder: countingFinder{paths: &paths, searches: &searches}, fs: countingFs{files, &stats}}
			got, err := r.resolve(t.Context(), lookup{cwd: "/w", name: test.target, create: test.create})
			if test.searches > 0 {
				require.True(t, fault.Is(err, fault.NotFound), err)
			} else {
				require.NoError(t, err)
				require.Equal(t, test.path, got.path)
				require.Nil(t, got.info)
			}
			require.Equal(t, []int{test.wantPaths, test.wantStats, test.searches}, []int{paths, stats, searches})
		})
	}
}

func TestAnEmptyOrMissingFileIsNew(t *testing.T) {
	t.Parallel()
	files := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(files, "/w/empty", nil, 0o600))
	require.NoError(t, afero.WriteFile(files, "/w/full", []byte("{}"), 0o600))
	require.NoError(t, files.MkdirAll("/w/dir", 0o700))
	r := resolver{finder: library.Finder{}, fs: files}
	for name, want := range map[string]bool{"empty": true, "missing": true, "full": false, "dir": false} {
		n, err := r.file("/w", "./"+name)
		require.NoError(t, err)
		require.Equal(t, want, n.isNew(), name)
	}
	require.False(t, namedFile{absent: fs.ErrPermission}.isNew())
}
