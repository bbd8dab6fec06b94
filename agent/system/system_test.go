package system_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/system"
)

func write(t *testing.T, fs afero.Fs, path, content string) {
	t.Helper()
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
}

func TestTheNearestInstructionsComeLast(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/home/u/.xcsh/agent/AGENTS.md", "for all")
	write(t, fs, "/src/AGENTS.md", "for the company")
	write(t, fs, "/src/p/CLAUDE.md", "for the project")
	write(t, fs, "/src/p/cmd/AGENTS.md", "for the command")
	write(t, fs, "/src/p/cmd/CLAUDE.md", "not used beside AGENTS.md")
	write(t, fs, "/src/other/AGENTS.md", "not of this folder")
	write(t, fs, "/AGENTS.md", "  \n")
	b := system.Builder{Fs: fs, AgentDir: "/home/u/.xcsh/agent", OS: "linux", Shell: "bash"}
	got := b.Prompt("/src/p/cmd")
	var at []int
	for _, s := range []string{"Guidelines:\n", "for all", "for the company", "for the project", "for the command", "Operating system: linux\nShell: bash\nWorking directory: /src/p/cmd"} {
		i := strings.Index(got, s)
		require.GreaterOrEqual(t, i, 0, s)
		at = append(at, i)
	}
	assert.IsIncreasing(t, at)
	assert.NotContains(t, got, "not used")
	assert.NotContains(t, got, "not of this folder")
	assert.NotContains(t, got, `path="/AGENTS.md"`)
	assert.Equal(t, got, b.Prompt("/src/p/cmd"), "it does not change between turns")
}

func TestWorkingInTheAgentDirNamesItsFileOnce(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/a/AGENTS.md", "mine")
	assert.Len(t, system.Builder{Fs: fs, AgentDir: "/a"}.Files("/a"), 1)
}

func TestLongAndBrokenFiles(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/w/AGENTS.md", strings.Repeat("é", 64<<10))
	files := system.Builder{Fs: fs, AgentDir: "/a"}.Files("/w")
	require.Len(t, files, 1)
	assert.True(t, files[0].Cut)
	assert.LessOrEqual(t, len(files[0].Content), 64<<10)
	assert.NotContains(t, files[0].Content, "\uFFFD")

	var reported []string
	failing := failingFs{fs}
	b := system.Builder{Fs: failing, AgentDir: "/a", Report: func(path string, _ error) { reported = append(reported, path) }}
	assert.Empty(t, b.Files("/w"))
	assert.Contains(t, reported, "/w/AGENTS.md")
}

type failingFs struct{ afero.Fs }

func (failingFs) OpenFile(string, int, os.FileMode) (afero.File, error) {
	return nil, os.NewSyscallError("open", errors.New("broken"))
}

// Instructions come from regular files in their own directories. Everything else is left out and
// reported, and does not affect the others.
func TestFilesThatAreLeftOut(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	home, parent := filepath.Join(top, "home"), filepath.Join(top, "parent")
	work := filepath.Join(parent, "w")
	disk := afero.NewOsFs()
	require.NoError(t, os.MkdirAll(work, 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".ssh"), 0o700))
	write(t, disk, filepath.Join(home, ".ssh", "id.md"), "a key")
	write(t, disk, filepath.Join(top, "AGENTS.md"), "others can write to this")
	require.NoError(t, os.Chmod(filepath.Join(top, "AGENTS.md"), 0o646))
	write(t, disk, filepath.Join(parent, ".env"), "a secret")
	require.NoError(t, os.Symlink(".env", filepath.Join(parent, "AGENTS.md")))
	write(t, disk, filepath.Join(parent, "CLAUDE.md"), "of the parent")
	require.NoError(t, os.Symlink("../CLAUDE.md", filepath.Join(work, "AGENTS.md")))
	require.NoError(t, os.Link(filepath.Join(home, ".ssh", "id.md"), filepath.Join(work, "CLAUDE.md")))
	left := map[string]string{}
	b := system.Builder{
		Fs: disk, AgentDir: filepath.Join(home, ".xcsh", "agent"), Private: sensitive.New(sensitive.Env{Home: home, OS: runtime.GOOS}),
		Report: func(path string, err error) { left[path] = err.Error() },
	}
	files := b.Files(work)
	require.Len(t, files, 1)
	assert.Equal(t, "of the parent", files[0].Content)
	for path, why := range map[string]string{
		filepath.Join(parent, "AGENTS.md"): "which is not a Markdown file",
		filepath.Join(work, "AGENTS.md"):   "it is a symbolic link that leaves its folder",
		filepath.Join(work, "CLAUDE.md"):   "it is a credentials file",
	} {
		assert.Contains(t, left[path], why, path)
	}
	if runtime.GOOS != "windows" {
		assert.Contains(t, left[filepath.Join(top, "AGENTS.md")], "another user owns it or can write to it")
	}
}

func TestAnAgentDirThatMayNotBeUsed(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	write(t, fs, "/a/AGENTS.md", "obey")
	usable := false
	b := system.Builder{Fs: fs, AgentDir: "/a", Usable: func(dir string) bool { return dir != "/a" || usable }}
	assert.Empty(t, b.Files("/w"))
	usable = true
	assert.Len(t, b.Files("/w"), 1)
}

// The rules that a user relies on without giving them.
func TestGuidelines(t *testing.T) {
	t.Parallel()
	got := system.Builder{Fs: afero.NewMemMapFs(), AgentDir: "/a"}.Prompt("/w")
	for _, rule := range []string{
		"Before you report success, run the tests or the build",
		"Do not commit, push or delete anything unless the user asks for it.",
		"Read files with read rather than cat, and continue large files with offset.",
		"Make independent reads in one answer.",
	} {
		assert.Contains(t, got, rule)
	}
}

// Below a folder the same conditions hold as in it.
func TestInstructionsBelow(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	work, disk := filepath.Join(top, "w"), afero.NewOsFs()
	for path, content := range map[string]string{
		"w/AGENTS.md": "of the folder", "w/a/AGENTS.md": "of a", "w/a/b/CLAUDE.md": "of b", "w/a/b/x.go": "x", "w/.env": "a secret", "w/c/x.go": "x",
		"w/vendor/d/AGENTS.md": "of a dependency", "w/vendor/d/x.go": "x", "o/AGENTS.md": "of another folder", "o/x.go": "x", "w/agent/AGENTS.md": "the user's own", "w/agent/x": "x",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(top, path)), 0o700))
		write(t, disk, filepath.Join(top, path), content)
	}
	require.NoError(t, os.Symlink("../.env", filepath.Join(work, "c", "AGENTS.md")))
	require.NoError(t, os.Symlink(filepath.Join(top, "o"), filepath.Join(work, "out")))
	require.NoError(t, os.Symlink("a", filepath.Join(work, "in")))
	deep := work
	for range 40 {
		deep = filepath.Join(deep, "d")
	}
	require.NoError(t, os.MkdirAll(deep, 0o700))
	write(t, disk, filepath.Join(work, "d", "AGENTS.md"), "of d")
	b := system.Builder{Fs: disk, AgentDir: filepath.Join(work, "agent"), Private: sensitive.New(sensitive.Env{Home: top, OS: runtime.GOOS})}
	for path, want := range map[string][]string{
		"a/b/x.go": {"of a", "of b"}, "a/b": {"of a", "of b"}, "a/new.go": {"of a"}, "a": {"of a"}, "in/b/x.go": {"of a", "of b"},
		"": nil, "x.go": nil, "c/x.go": nil, "vendor/d/x.go": nil, "out/x.go": nil, "../o/x.go": nil, "agent/x": nil, "missing/x.go": nil,
		"d/x": {"of d"}, strings.TrimPrefix(deep, work+"/"): nil,
	} {
		var got []string
		for _, f := range b.Below(work, filepath.Join(work, path)) {
			got = append(got, f.Content)
		}
		assert.Equal(t, want, got, path)
	}
}
