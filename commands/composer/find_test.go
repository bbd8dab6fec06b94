package composer_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands/composer"
)

func newFinder(t *testing.T, files ...string) composer.Finder {
	t.Helper()
	fs := afero.NewMemMapFs()
	for _, path := range files {
		require.NoError(t, afero.WriteFile(fs, path, nil, 0o600))
	}
	return composer.Finder{
		Fs: fs, Cwd: "/w", Home: "/home/u",
		Sensitive: func(path string) bool { return strings.Contains(path, ".ssh") },
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := newFinder(t, "/w/a.go", "/w/dir/b:10", "/w/my notes", "/home/u/x", "/other/y")
	for text, want := range map[string]composer.Place{
		"a.go": {Path: "/w/a.go"}, "./a.go": {Path: "/w/a.go"}, "dir/../a.go.": {Path: "/w/a.go"}, "a.go)?": {Path: "/w/a.go"},
		"a.go:3": {Path: "/w/a.go", Lines: composer.Lines{From: 3, To: 3}}, "a.go:3-9,": {Path: "/w/a.go", Lines: composer.Lines{From: 3, To: 9}},
		"a.go#L3-L9": {Path: "/w/a.go", Lines: composer.Lines{From: 3, To: 9}}, "a.go:9-3": {Path: "/w/a.go", Lines: composer.Lines{From: 9, To: 9}},
		"a.go:0":   {Path: "/w/a.go", Lines: composer.Lines{From: 1, To: 1}},
		"dir/b:10": {Path: "/w/dir/b:10"}, "dir/b:10:2": {Path: "/w/dir/b:10", Lines: composer.Lines{From: 2, To: 2}},
		"dir": {Path: "/w/dir", Folder: true}, "dir/": {Path: "/w/dir", Folder: true}, "./": {Path: "/w", Folder: true},
		"my notes": {Path: "/w/my notes"}, "~/x": {Path: "/home/u/x"}, "/other/y": {Path: "/other/y"},
	} {
		place, problem, ok := f.Find(composer.Word{Text: text})
		assert.True(t, ok, text)
		assert.Empty(t, problem)
		assert.Equal(t, want, place, text)
	}
	for _, text := range []string{"b.go", "a.go/x", "dir:3", "override", "~", "a\x00", `\\host\share`, "//host/share", "...", ":3"} {
		_, problem, ok := f.Find(composer.Word{Text: text})
		assert.False(t, ok, text)
		assert.Empty(t, problem, text)
	}
}

func TestFindRefusesSecretsAndWhatIsOutside(t *testing.T) {
	t.Parallel()
	f := newFinder(t, "/home/u/.ssh/id", "/v/c")
	for text, want := range map[string]string{"~/.ssh/id": "secrets", "/home/u/.ssh/id": "secrets", "../home/u/.ssh/id": "secrets", "../v/c": "outside"} {
		_, problem, ok := f.Find(composer.Word{Text: text})
		assert.False(t, ok, text)
		assert.Contains(t, problem, want)
	}
}

func TestFindFollowsLinksWithinTheFolderOnly(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	cwd := filepath.Join(root, "w")
	require.NoError(t, os.MkdirAll(filepath.Join(cwd, "in"), 0o700))
	for _, path := range []string{"w/in/a", "out"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, path), nil, 0o600))
	}
	for link, to := range map[string]string{"good": "in/a", "bad": "../out", "up": "..", "gone": "nothing", "loop": "loop"} {
		require.NoError(t, os.Symlink(to, filepath.Join(cwd, link)))
	}
	f := composer.Finder{Fs: afero.NewOsFs(), Cwd: cwd}
	for text, want := range map[string]bool{"good": true, "bad": false, "up/out": false, "up": false, "gone": false, "loop": false} {
		_, _, ok := f.Find(composer.Word{Text: text})
		assert.Equal(t, want, ok, text)
	}
}

func TestListIsBounded(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	require.NoError(t, fs.MkdirAll("/w/sub", 0o700))
	require.NoError(t, afero.WriteFile(fs, "/w/odd\nname", nil, 0o600))
	names, err := composer.List(fs, "/w")
	require.NoError(t, err)
	require.Equal(t, "odd\\nname\nsub/\n", names)
	for i := range 501 {
		require.NoError(t, afero.WriteFile(fs, fmt.Sprintf("/w/sub/%03d", i), nil, 0o600))
	}
	names, err = composer.List(fs, "/w/sub")
	require.NoError(t, err)
	require.True(t, strings.HasSuffix(names, "499\n… and 1 more\n"), names[len(names)-40:])
	_, err = composer.List(fs, "/w/gone")
	require.Error(t, err)
}
