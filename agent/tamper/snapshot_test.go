package tamper_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tamper"
)

type folder struct {
	t       *testing.T
	dir     string
	gitDirs []string
}

func newFolder(t *testing.T, files map[string]string) folder {
	t.Helper()
	f := folder{t: t, dir: t.TempDir()}
	for name, content := range files {
		f.write(name, content)
	}
	return f
}

func (f folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f folder) write(name, content string) {
	f.t.Helper()
	require.NoError(f.t, os.MkdirAll(filepath.Dir(f.path(name)), 0o755))
	require.NoError(f.t, os.WriteFile(f.path(name), []byte(content), 0o644))
}

func (f folder) read(name string) string {
	f.t.Helper()
	content, err := os.ReadFile(f.path(name))
	require.NoError(f.t, err)
	return string(content)
}

// after runs change between a look and the comparison.
func (f folder) after(change func()) (*tamper.Snapshot, map[string]string) {
	f.t.Helper()
	s, err := tamper.NewSnapshot(f.dir, f.gitDirs...)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = s.Close() })
	change()
	how := map[string]string{}
	for _, c := range s.Changes() {
		rel, err := filepath.Rel(f.dir, c.Path)
		require.NoError(f.t, err)
		how[filepath.ToSlash(rel)] = c.How
	}
	return s, how
}

func TestChangesOfProtectedFiles(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{
		".vscode/settings.json": "{}", ".envrc": "a", ".husky/pre-commit": "x", "sub/pkg/.vscode/tasks.json": "{}", "main.go": "package main", ".git/hooks/x": "1",
		".git/HEAD": "ref", ".git/config": "[core]\n\tbare = false\n",
	})
	s, how := f.after(func() {
		f.write(".vscode/settings.json", `{"a":1}`)
		f.write(".vscode/tasks.json", "new")
		f.write("sub/pkg/.vscode/tasks.json", "new")
		f.write(".git/hooks/pre-commit", "evil")
		f.write(".git/HEAD", "other")
		f.write("main.go", "package other")
		f.write(".git/config", "[core]\n\tbare = false\n\thooksPath = /tmp/evil\n")
		require.NoError(t, os.Remove(f.path(".envrc")))
		require.NoError(t, os.Chmod(f.path(".husky/pre-commit"), 0o755))
	})
	require.Equal(t, map[string]string{
		".vscode/settings.json": "changed", ".vscode/tasks.json": "created", "sub/pkg/.vscode/tasks.json": "changed", ".git/hooks/pre-commit": "created",
		".git/config": "changed", ".envrc": "deleted", ".husky/pre-commit": "changed",
	}, how)
	require.Empty(t, s.Undo(s.Changes()))
	require.Empty(t, s.Changes())
	require.Equal(t, "{}", f.read(".vscode/settings.json"))
	require.Equal(t, "a", f.read(".envrc"))
	require.Equal(t, "package other", f.read("main.go"))
	require.NoFileExists(t, f.path(".vscode/tasks.json"))
	info, err := os.Stat(f.path(".husky/pre-commit"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o644), info.Mode())
}

func TestGitsOwnChangesAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{".git/config": "[core]\n\tbare = false\n"})
	_, how := f.after(func() {
		f.write(".git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/x\n\tfetch = +refs/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = x\n")
		f.write(".git/index", "x")
		f.write(".git/objects/ab/cd", "x")
	})
	require.Empty(t, how)
	for _, line := range []string{
		"[alias]\n\tst = !evil\n", "[core]\n\tfsmonitor = evil\n", "[Core]\n\tsshCommand = evil\n", "[remote \"origin\"]\n\tuploadpack = evil\n",
		"[include]\n\tpath = ../x\n", "[filter \"x\"]\n\tclean = evil\n", "[user]\n\tname = x\\\n[alias]\n\tst = !evil\n", "[core] pager = evil\n", "[diff.x]\n\ttextconv = evil\n",
	} {
		_, how := f.after(func() { f.write(".git/config", line) })
		require.Equal(t, map[string]string{".git/config": "changed"}, how, line)
		f.write(".git/config", "[core]\n\tbare = false\n")
	}
}

// A directory that became a link is not followed: restored files stay in the folder.
func TestUndoDoesNotFollowLinks(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	f := newFolder(t, map[string]string{".vscode/settings.json": "{}"})
	s, how := f.after(func() {
		require.NoError(t, os.RemoveAll(f.path(".vscode")))
		require.NoError(t, os.Symlink(outside, f.path(".vscode")))
	})
	require.Equal(t, map[string]string{".vscode/settings.json": "deleted", ".vscode": "created"}, how)
	require.Empty(t, s.Undo(s.Changes()))
	require.Equal(t, "{}", f.read(".vscode/settings.json"))
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
	info, err := os.Lstat(f.path(".vscode"))
	require.NoError(t, err)
	require.True(t, info.IsDir())
}

func TestALargeFileIsNotRestored(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{".yarn/releases/yarn.cjs": string(make([]byte, 2<<20))})
	s, how := f.after(func() { f.write(".yarn/releases/yarn.cjs", "evil") })
	require.Equal(t, map[string]string{".yarn/releases/yarn.cjs": "changed"}, how)
	require.Equal(t, []string{f.path(".yarn/releases/yarn.cjs")}, s.Undo(s.Changes()))
	require.Equal(t, "evil", f.read(".yarn/releases/yarn.cjs"))
}

// A folder that is part of a repository has its hooks elsewhere.
func TestTheRepositoryAroundTheFolder(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{".git/config": "[core]\n\tbare = false\n", "part/x": ""})
	repository := f.path(".git")
	f.dir, f.gitDirs = f.path("part"), []string{repository}
	s, how := f.after(func() {
		f.write("../.git/hooks/pre-push", "evil")
		f.write("../.git/config", "[core]\n\tbare = false\n[branch \"x\"]\n\tremote = y\n")
	})
	require.Equal(t, map[string]string{"../.git/hooks/pre-push": "created"}, how)
	require.Empty(t, s.Undo(s.Changes()))
	require.NoFileExists(t, f.path("../.git/hooks/pre-push"))
}

func TestANewRepositoryIsNoChange(t *testing.T) {
	t.Parallel()
	f := newFolder(t, nil)
	_, how := f.after(func() {
		f.write("clone/.git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/x\n")
		f.write("clone/.git/hooks/pre-push.sample", "x")
	})
	require.Empty(t, how)
	_, how = f.after(func() { f.write("other/.git/config", "[core]\n\thooksPath = /tmp\n") })
	require.Equal(t, map[string]string{"other/.git/config": "created"}, how)
}

// git reads these as settings that run commands.
func TestHarmlessLookingGitSettings(t *testing.T) {
	t.Parallel()
	const before = "[core]\n\tbare = false\n"
	for _, config := range []string{
		"[core] fsmonitor = evil ;]\n", "[user][core]\n\tfsmonitor = evil\n", "[gc]\n\trecentObjectsHook = evil\n",
		"[core]\n\tfsmonitor = evil\n" + strings.Repeat("# padding\n", 200_000), "[user.x\n",
	} {
		f := newFolder(t, map[string]string{".git/config": before})
		s, how := f.after(func() { f.write(".git/config", config) })
		require.Equal(t, map[string]string{".git/config": "changed"}, how, strings.SplitN(config, "\n", 2)[0])
		require.Empty(t, s.Undo(s.Changes()))
		require.Equal(t, before, f.read(".git/config"))
	}
	f := newFolder(t, map[string]string{".git/config": before})
	_, how := f.after(func() {
		f.write(".git/#x", "[core]\n\tfsmonitor = evil\n")
		require.NoError(t, os.Remove(f.path(".git/config")))
		require.NoError(t, os.Symlink("#x", f.path(".git/config")))
	})
	require.Equal(t, map[string]string{".git/config": "changed"}, how)
}

// A command cannot hide a change beyond the limits by creating many other files first.
func TestManyFilesHideNothing(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{".git/config": "", ".git/hooks/x.sample": ""})
	s, how := f.after(func() {
		for i := range 8100 {
			f.write("f"+strconv.Itoa(i), "")
			f.write(".agent/"+strconv.Itoa(i), "")
		}
		f.write(".agent/z/evil", "")
		f.write(".git/hooks/pre-commit", "evil")
		f.write(".vscode/settings.json", "evil")
	})
	require.Equal(t, "created", how[".git/hooks/pre-commit"])
	require.Equal(t, "created", how[".vscode/settings.json"])
	require.Empty(t, s.Undo(s.Changes()))
	require.NoFileExists(t, f.path(".vscode/settings.json"))
	require.NoFileExists(t, f.path(".agent/z/evil"))
}

// Other places from which git takes settings and hooks.
func TestOtherDirectoriesOfGit(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{
		".git/config": "", ".git/modules/sub/HEAD": "", ".git/modules/sub/config": "", ".git/modules/a/b/HEAD": "", ".git/worktrees/w/HEAD": "",
		"store/config": "", "linked/x": "",
	})
	require.NoError(t, os.Symlink("../store", f.path("linked/.git")))
	changed := map[string]string{}
	_, how := f.after(func() {
		for _, name := range []string{
			".git/commondir", ".git/modules/sub/hooks/pre-commit", ".git/modules/a/b/hooks/pre-commit", ".git/worktrees/w/config.worktree", "linked/.git/hooks/pre-commit",
		} {
			f.write(name, "evil")
			changed[name] = "created"
		}
		f.write(".git/modules/sub/config", "[core]\n\tfsmonitor = evil\n")
		changed[".git/modules/sub/config"] = "changed"
	})
	require.Equal(t, changed, how)
}

// The size and the modification time of a large file do not prove that it is the same.
func TestALargeFileWithAnOldTime(t *testing.T) {
	t.Parallel()
	const name = ".yarn/releases/yarn.cjs"
	f := newFolder(t, map[string]string{name: strings.Repeat("a", 2<<20)})
	info, err := os.Stat(f.path(name))
	require.NoError(t, err)
	_, how := f.after(func() {
		f.write(name, strings.Repeat("b", 2<<20))
		require.NoError(t, os.Chtimes(f.path(name), info.ModTime(), info.ModTime()))
	})
	require.Equal(t, map[string]string{name: "changed"}, how)
}

// Changes that the user keeps are made again in the same way.
func TestRedo(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{".envrc": "a", ".husky/pre-commit": "x", ".vscode/settings.json": "{}"})
	s, _ := f.after(func() {
		f.write(".envrc", "b")
		f.write(".github/workflows/ci.yml", "new")
		require.NoError(t, os.RemoveAll(f.path(".husky")))
		require.NoError(t, os.Remove(f.path(".vscode/settings.json")))
		require.NoError(t, os.Symlink("../x", f.path(".vscode/settings.json")))
		require.NoError(t, os.Chmod(f.path(".envrc"), 0o755))
	})
	changes := s.Changes()
	require.Len(t, changes, 4)
	require.Empty(t, s.Undo(changes))
	require.Equal(t, "a", f.read(".envrc"))
	require.Empty(t, s.Redo(changes))
	require.Equal(t, "b", f.read(".envrc"))
	require.Equal(t, "new", f.read(".github/workflows/ci.yml"))
	require.NoFileExists(t, f.path(".husky/pre-commit"))
	to, err := os.Readlink(f.path(".vscode/settings.json"))
	require.NoError(t, err)
	require.Equal(t, "../x", to)
	info, err := os.Stat(f.path(".envrc"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())
}

// The user's next push goes to the same remote as before.
func TestARemoteThatMoves(t *testing.T) {
	t.Parallel()
	const origin = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/x\n"
	f := newFolder(t, map[string]string{".git/config": origin})
	_, how := f.after(func() { f.write(".git/config", origin+"[remote \"fork\"]\n\turl = https://example.com/y\n") })
	require.Empty(t, how, "a new remote")
	for _, config := range []string{
		"[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://evil.example/x\n",
		origin + "[remote \"origin\"]\n\turl = https://evil.example/x\n",
	} {
		f.write(".git/config", origin)
		_, how := f.after(func() { f.write(".git/config", config) })
		require.Equal(t, map[string]string{".git/config": "changed"}, how, config)
	}
}
