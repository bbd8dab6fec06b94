package sensitive_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// watched counts the questions about files.
type watched struct {
	*afero.OsFs
	asked map[string]int
}

func watch() watched { return watched{afero.NewOsFs().(*afero.OsFs), map[string]int{}} }

func (w watched) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	w.asked[name]++
	return w.OsFs.LstatIfPossible(name)
}

func (w watched) Stat(name string) (fs.FileInfo, error) {
	w.asked[name]++
	return w.OsFs.Stat(name)
}

// A view about which nobody asks costs nothing, and the first question asks about no path below a
// directory that is not there.
func TestAViewLooksOnceAndOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	m, disk := newMachine(t), watch()
	view := m.set.Resolve(disk)
	require.Empty(t, disk.asked)
	require.True(t, view.Denies(filepath.Join(m.home, ".ssh", "id_rsa")))
	require.LessOrEqual(t, disk.asked[filepath.Join(m.home, ".config")], 1)
	require.Zero(t, disk.asked[filepath.Join(m.home, ".config", "gh")])
	require.Less(t, disk.asked[m.home], 8)
	clear(disk.asked)
	require.True(t, view.Denies(filepath.Join(m.home, ".ssh", "id_rsa")))
	require.Less(t, len(disk.asked), 20)
}

// Hundreds of listed names are not asked for one by one where a directory can be listed, and the answers are those of asking.
func TestADirectoryIsListedRatherThanAskedForEachName(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere an entry may have names that its directory does not list")
	}
	for _, fill := range []int{0, 1100} { // above the limit of a listing, every name is asked for
		m, disk := newMachine(t), watch()
		for i := range fill {
			m.write(filepath.Join(m.home, fmt.Sprintf("file%d", i)))
		}
		m.write(filepath.Join(m.home, "elsewhere", "token"))
		require.NoError(t, os.Symlink("elsewhere/token", filepath.Join(m.home, ".zsh_history")))
		view := m.set.Resolve(disk)
		require.True(t, view.Denies(filepath.Join(m.home, "elsewhere", "token")))
		require.False(t, view.Denies(filepath.Join(m.home, "elsewhere", "notes")))
		inHome := 0
		for path := range disk.asked {
			if filepath.Dir(path) == m.home {
				inHome++
			}
		}
		if fill == 0 {
			require.Less(t, inHome, 30)
		} else {
			require.Greater(t, inHome, 60)
		}
	}
}

// A listed path whose link leads elsewhere from one turn to the next, or appears below a directory that
// was not there, protects its new target in the next turn.
func TestLinksThatChangeBetweenTurns(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	m := newMachine(t)
	disk, vault := afero.NewOsFs(), filepath.Join(filepath.Dir(m.home), "vault")
	first, second := filepath.Join(vault, "first"), filepath.Join(vault, "second")
	for _, path := range []string{first, second} {
		m.write(filepath.Join(path, "hosts.yml"))
	}
	denies := func(dir string) bool { return m.set.Resolve(disk).Denies(filepath.Join(dir, "hosts.yml")) }
	link := func(to, name string) {
		path := filepath.Join(m.home, name)
		_ = os.Remove(path) // the link of the turn before, if any
		require.NoError(t, os.Symlink(to, path))
	}
	assert.False(t, denies(first))
	require.NoError(t, os.Mkdir(filepath.Join(m.home, ".config"), 0o700)) // it was not there before
	link(first, ".config/gh")
	assert.True(t, denies(first))
	assert.False(t, denies(second))
	link(second, ".config/gh")
	assert.False(t, denies(first))
	assert.True(t, denies(second))
	link(first, ".ssh/more") // in a listed directory
	assert.True(t, denies(first))

	project := filepath.Join(m.work, "notes.md") // the side of the project
	require.NoError(t, os.Symlink("file", project))
	assert.False(t, m.set.Resolve(disk).Denies(project))
	require.NoError(t, os.Remove(project))
	require.NoError(t, os.Symlink(filepath.Join(m.home, ".netrc"), project))
	assert.True(t, m.set.Resolve(disk).Denies(project))
}

// Directories above listed paths may be links, to links, to nothing and to themselves.
func TestDirectoriesOfListedPathsThatAreLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	m := newMachine(t)
	top := filepath.Dir(m.home)
	m.write(filepath.Join(top, "real", "gh", "hosts.yml"))
	for name, to := range map[string]string{
		"home/.config": "../middle", "middle": "real", "home/.local": "../nothing", "home/.cargo": ".cargo",
		"home/AppData": filepath.Join(m.home, "plain"),
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(top, name)))
	}
	for _, path := range []string{
		"real/gh/hosts.yml", "middle/gh/hosts.yml", "home/.config/gh/hosts.yml", "real/op/new", "nothing/share/keyrings/x",
		"home/.local/share/keyrings/x", "home/.cargo/credentials",
	} {
		assert.True(t, m.denies(filepath.Join(top, path)), path)
	}
	for _, path := range []string{"real", "real/ghost", "nothing", "nothing/share", "home/plain"} {
		assert.False(t, m.denies(filepath.Join(top, path)), path)
	}
	fsys := unreadable{afero.NewOsFs().(*afero.OsFs)}
	require.True(t, m.set.Denies(fsys, filepath.Join(m.home, ".ssh", "id_rsa")))
	require.NoError(t, os.Link(filepath.Join(m.home, ".netrc"), filepath.Join(m.work, "hard")))
	require.True(t, m.set.Denies(fsys, filepath.Join(m.work, "hard"))) // a directory that cannot be looked at may still hold files
}
