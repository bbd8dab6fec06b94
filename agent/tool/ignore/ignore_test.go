package ignore_test

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/ignore"
)

// ignored walks the tree below root and returns every path that is ignored, directories with a
// slash at the end. It skips everything below an ignored directory.
func ignored(t *testing.T, fsys afero.Fs, root string) []string {
	t.Helper()
	var found []string
	var walk func(dir, rel string, rules *ignore.Rules)
	walk = func(dir, rel string, rules *ignore.Rules) {
		entries, err := afero.ReadDir(fsys, dir)
		require.NoError(t, err)
		if rules == nil {
			rules = ignore.Load(fsys, dir)
		} else {
			rules = rules.Enter(fsys, dir, entries)
		}
		for _, e := range entries {
			at := path.Join(rel, e.Name())
			switch {
			case rules.Ignored(e.Name(), e.IsDir()):
				if e.IsDir() {
					at += "/"
				}
				if e.Name() != ".git" {
					found = append(found, at)
				}
			case e.IsDir():
				walk(filepath.Join(dir, e.Name()), at, rules)
			}
		}
	}
	walk(root, "", nil)
	slices.Sort(found)
	return found
}

// Each case is an archive: files that are there, and "ignored", the list that git 2.39
// gives for them.
func TestIgnoredLikeGit(t *testing.T) {
	t.Parallel()
	cases, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for _, file := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			require.NoError(t, err)
			fsys := afero.NewMemMapFs()
			require.NoError(t, fsys.MkdirAll("/r/.git/info", 0o700))
			var want []string
			for _, f := range a.Files {
				if f.Name == "ignored" {
					want = strings.Fields(string(f.Data))
					continue
				}
				// An archive cannot hold carriage returns and spaces at the end of a line.
				data := strings.NewReplacer("<CR>", "\r", "<SP>", " ").Replace(string(f.Data))
				require.NoError(t, afero.WriteFile(fsys, "/r/"+f.Name, []byte(data), 0o600))
			}
			require.Equal(t, want, ignored(t, fsys, "/r"))
		})
	}
}

func TestRulesOfADirectoryWithinARepository(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for name, content := range map[string]string{
		"/.gitignore":       "*.go\n", // above the repository, which ends the search
		"/r/.git/HEAD":      "",
		"/r/.gitignore":     "/a/b/x\n*.log\n",
		"/r/a/.gitignore":   "!keep.log\n",
		"/r/a/b/x":          "",
		"/r/a/b/y.log":      "",
		"/r/a/b/keep.log":   "",
		"/r/a/b/main.go":    "",
		"/plain/.gitignore": "*.go\n",
		"/plain/a/main.go":  "",
	} {
		require.NoError(t, afero.WriteFile(fsys, name, []byte(content), 0o600))
	}
	require.Equal(t, []string{"x", "y.log"}, ignored(t, fsys, "/r/a/b"))
	require.Empty(t, ignored(t, fsys, "/plain/a"), "without a repository only the directory itself counts")
	require.Equal(t, []string{"a/main.go"}, ignored(t, fsys, "/plain"))
}

func TestNestedRepositoryInheritsNoRules(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for name, content := range map[string]string{
		"/r/.git/HEAD":          "",
		"/r/.gitignore":         "*.log\n",
		"/r/inner/.git":         "gitdir: ../.git/modules/inner",
		"/r/inner/.gitignore":   "*.tmp\n",
		"/r/inner/deep/a.log":   "",
		"/r/inner/deep/b.tmp":   "",
		"/r/outer.log":          "",
		"/r/.git/info/exclude":  "secret\n",
		"/r/secret":             "",
		"/r/inner/deep/secret":  "",
		"/r/inner/.gitkeep":     "",
		"/r/outer/secret/a/b/c": "",
	} {
		require.NoError(t, afero.WriteFile(fsys, name, []byte(content), 0o600))
	}
	require.Equal(t, []string{"inner/deep/b.tmp", "outer.log", "outer/secret/", "secret"}, ignored(t, fsys, "/r"))
}

func TestNoRulesIgnoreOnlyTheRepository(t *testing.T) {
	t.Parallel()
	var none *ignore.Rules
	require.True(t, none.Ignored(".git", true))
	require.False(t, none.Ignored("a", false))
}

// A pattern with many stars is refused in no time although it never matches.
func TestManyStars(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(fsys, "/r/.gitignore", []byte("a"+strings.Repeat("*a", 40)+"b\n"), 0o600))
	require.False(t, ignore.Load(fsys, "/r").Ignored(strings.Repeat("a", 4000), false))
}

// TestRandomTreesLikeGit compares with git itself. Every developer of this project has git; a
// machine without it fails, so that the comparison is never left out.
func TestRandomTreesLikeGit(t *testing.T) {
	t.Parallel()
	const rounds = 25
	for seed := range uint64(rounds) {
		dir := t.TempDir()
		git(t, dir, nil, "init", "-q")
		r := rand.New(rand.NewPCG(seed, 7))
		paths := growTree(t, r, dir)
		out := git(t, dir, []byte(strings.Join(paths, "\x00")+"\x00"), "check-ignore", "-z", "--no-index", "--stdin")
		want := map[string]bool{}
		for p := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			want[p] = p != ""
		}
		got := ignored(t, afero.NewOsFs(), dir)
		for _, p := range paths {
			is := slices.ContainsFunc(got, func(g string) bool {
				return g == p || g == p+"/" || strings.HasSuffix(g, "/") && strings.HasPrefix(p, g)
			})
			if is != want[p] {
				t.Fatalf("seed %d: %q is ignored: %t, git says %t\n%s", seed, p, is, want[p], ignoreFiles(t, dir))
			}
		}
	}
}

func git(t *testing.T, dir string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "XDG_CONFIG_HOME="+dir, "HOME="+dir)
	out, err := cmd.Output()
	if args[0] == "check-ignore" && cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 1 {
		return nil // nothing is ignored
	}
	require.NoError(t, err)
	return out
}

var (
	names  = []string{"a", "b", "ab", "abc", "foo", "a.b", "b.a", "[x]", "a b", "é"}
	pieces = []string{
		"a", "b", "c", "ab", "foo", "*", "**", "?", "/", "/", "/", ".", "[ab]", "[!a]", "[a-c]", "[[:alpha:]]", "[[:foo:]]",
		`\a`, `\*`, "!", "#", " ", `\ `, "é", "[]a]", "[", "x]", "-", "[^]b]", `[\]]`, "[a-", "**/", "/**", "/**/", "*.b", "[b-a]",
	}
)

// growTree makes directories, files and ignore files, and returns the paths.
func growTree(t *testing.T, r *rand.Rand, root string) []string {
	t.Helper()
	var paths []string
	var grow func(rel string, depth int)
	grow = func(rel string, depth int) {
		if depth == 0 || r.IntN(3) == 0 {
			write(t, filepath.Join(root, rel, ".gitignore"), randomPatterns(r))
		}
		for _, name := range names {
			at := path.Join(rel, name)
			switch n := r.IntN(6); {
			case n < 2 && depth < 2:
				require.NoError(t, os.Mkdir(filepath.Join(root, at), 0o700))
				paths = append(paths, at)
				grow(at, depth+1)
			case n < 4:
				write(t, filepath.Join(root, at), "")
				paths = append(paths, at)
			}
		}
	}
	grow("", 0)
	return paths
}

func randomPatterns(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(6) {
		if r.IntN(4) == 0 {
			b.WriteByte('!')
		}
		for range 1 + r.IntN(5) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		b.WriteString([]string{"\n", "\n", "\n", "/\n", " \n", "\r\n", "  \r\n"}[r.IntN(7)])
	}
	return b.String()
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

// ignoreFiles returns the ignore files, to explain a failed comparison.
func ignoreFiles(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.Name() != ".gitignore" {
			return err
		}
		content, err := os.ReadFile(path)
		b.WriteString(path + ":\n")
		for s := bufio.NewScanner(bytes.NewReader(content)); s.Scan(); {
			b.WriteString("  " + s.Text() + "|\n")
		}
		return err
	}))
	return b.String()
}
