package gitremote_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/gitremote"
)

// world is a directory with a home and repositories that the real git made.
type world struct {
	t          *testing.T
	dir, home  string
	configured gitremote.Machine
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("git is not installed, or writes the paths of temporary directories in another way")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, dir: dir, home: filepath.Join(dir, "home")}
	require.NoError(t, os.Mkdir(w.home, 0o700))
	w.configured = gitremote.Machine{
		Fs: afero.NewOsFs(), Home: w.home, Real: filepath.EvalSymlinks,
		Config: gitremote.ConfigFiles(w.home, func(name string) string { return map[string]string{"GIT_CONFIG_NOSYSTEM": "1"}[name] }),
	}
	return w
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) write(name, content string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Dir(w.path(name)), 0o700))
	require.NoError(w.t, os.WriteFile(w.path(name), []byte(content), 0o600))
}

// git runs git in dir and returns its output.
func (w *world) git(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "git", args...)
	cmd.Dir = w.path(dir)
	cmd.Env = []string{
		"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "PWD=" + cmd.Dir, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

// repository makes a repository with the remote origin.
func (w *world) repository(name, remote string) {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(w.path(name), 0o700))
	w.git(name, "init", "-q", "-b", "main")
	if remote != "" {
		w.git(name, "remote", "add", "origin", remote)
	}
}

// find requires that dir is in a repository whose remote is the one that git uses.
func (w *world) find(dir string) gitremote.Repository {
	w.t.Helper()
	r, ok, err := gitremote.Find(w.configured, w.path(dir))
	require.NoError(w.t, err)
	require.True(w.t, ok)
	require.Equal(w.t, w.git(dir, "rev-parse", "--show-toplevel"), filepath.ToSlash(r.Root))
	require.Equal(w.t, w.git(dir, "rev-parse", "--show-prefix"), strings.TrimPrefix(r.Folder+"/", "/"))
	if r.Remote != "" {
		remotes := w.git(dir, "remote", "-v")
		require.Contains(w.t, remotes, "\t"+r.Remote+" (fetch)")
	}
	return r
}

func TestFindReadsRemotesAsGitDoes(t *testing.T) {
	t.Parallel()
	const address = "git@github.com:acme/web.git"
	for name, c := range map[string]struct {
		remotes, config string
		want            string
	}{
		"origin":              {"origin=" + address + " other=https://example.com/x", "", address},
		"only one":            {"upstream=" + address, "", address},
		"none of two":         {"a=https://example.com/a b=https://example.com/b", "", ""},
		"none":                {"", "", ""},
		"pushDefault":         {"origin=https://example.com/x fork=" + address, "[remote]\npushDefault = fork", address},
		"unknown pushDefault": {"origin=" + address, "[remote]\npushDefault = https://example.com/x", address},
		"insteadOf":           {"origin=gh:acme/web.git", "[url \"git@github.com:\"]\ninsteadOf = gh:", address},
		"longest insteadOf": {
			"origin=gh:acme/web.git",
			"[url \"https://example.com/\"]\ninsteadOf = gh:\n[url \"git@github.com:acme/\"]\ninsteadOf = gh:acme/\n[url \"https://example.org/\"]\ninsteadOf = g", address,
		},
		"first of equals":        {"origin=gh:web", "[url \"a:\"]\ninsteadOf = gh:\n[url \"b:\"]\ninsteadOf = gh:", "a:web"},
		"pushInsteadOf is not":   {"origin=" + address, "[url \"x:\"]\npushInsteadOf = git@", address},
		"insteadOf is not twice": {"origin=a:web", "[url \"b:\"]\ninsteadOf = a:\n[url \"c:\"]\ninsteadOf = b:", "b:web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("home/.gitconfig", c.config)
			w.repository("r", "")
			for remote := range strings.FieldsSeq(c.remotes) {
				remote, url, _ := strings.Cut(remote, "=")
				w.git("r", "remote", "add", remote, url)
			}
			require.Equal(t, c.want, w.find("r").Remote)
		})
	}
}

func TestFindReadsWorktreesAndSubmodules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("home/.gitconfig", "[protocol \"file\"]\nallow = always\n")
	w.repository("sub", "")
	w.git("sub", "commit", "-q", "--allow-empty", "-m", "x")
	w.repository("main", "https://example.com/main")
	w.git("main", "submodule", "--quiet", "add", w.path("sub"), "lib/sub")
	w.git("main/lib/sub", "remote", "set-url", "origin", "https://example.com/sub")
	w.git("main", "commit", "-q", "-m", "x")
	w.git("main", "worktree", "add", "-q", w.path("tree"))
	w.git("main", "config", "extensions.worktreeConfig", "true")
	w.write("main/apps/shop/file", "")
	w.write("tree/apps/file", "")

	require.Equal(t, "apps/shop", w.find("main/apps/shop").Folder)
	require.Equal(t, "https://example.com/sub", w.find("main/lib/sub").Remote)
	require.Equal(t, w.path("main/lib/sub"), w.find("main/lib/sub").Root)
	tree := w.find("tree/apps")
	require.Equal(t, gitremote.Repository{Root: w.path("tree"), Folder: "apps", Remote: "https://example.com/main"}, tree)
	w.git("tree", "config", "--worktree", "remote.origin.url", "https://example.com/other")
	r, ok, err := gitremote.Find(w.configured, w.path("tree"))
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "https://example.com/main", r.Remote, "the first of several addresses is used")
	w.git("tree", "config", "--worktree", "remote.pushDefault", "second")
	w.git("tree", "config", "--worktree", "remote.second.url", "https://example.com/second")
	require.Equal(t, "https://example.com/second", w.find("tree").Remote)
	require.Equal(t, "https://example.com/main", w.find("main").Remote, "the configuration of a working tree is its own")
}

func TestFindFollowsIncludes(t *testing.T) {
	t.Parallel()
	const marked = "remote.pushDefault"
	for name, c := range map[string]struct {
		include string // in the user's configuration; %s is the directory
		holds   bool
	}{
		"plain":                    {"[include]\npath = marks", true},
		"home":                     {"[include]\npath = ~/marks", true},
		"missing":                  {"[include]\npath = missing\n[include]\npath = marks", true},
		"another user's home":      {"[include]\npath = ~root/marks", false},
		"gitdir below home":        {"[includeIf \"gitdir:~/work/\"]\npath = marks", true},
		"gitdir not below":         {"[includeIf \"gitdir:~/play/\"]\npath = marks", false},
		"gitdir without slash":     {"[includeIf \"gitdir:~/work\"]\npath = marks", false},
		"gitdir itself":            {"[includeIf \"gitdir:~/work/r/.git\"]\npath = marks", true},
		"gitdir by a name":         {"[includeIf \"gitdir:work/\"]\npath = marks", true},
		"gitdir with a pattern":    {"[includeIf \"gitdir:~/w*/?/\"]\npath = marks", true},
		"gitdir beside the file":   {"[includeIf \"gitdir:./work/\"]\npath = marks", true},
		"gitdir in capitals":       {"[includeIf \"gitdir:~/WORK/\"]\npath = marks", false},
		"gitdir/i in capitals":     {"[includeIf \"gitdir/i:~/WORK/\"]\npath = marks", true},
		"braces are no pattern":    {"[includeIf \"gitdir:~/{work,play}/\"]\npath = marks", false},
		"onbranch":                 {"[includeIf \"onbranch:main\"]\npath = marks", true},
		"onbranch below":           {"[includeIf \"onbranch:main/\"]\npath = marks", false},
		"onbranch with a pattern":  {"[includeIf \"onbranch:m*\"]\npath = marks", true},
		"hasconfig":                {"[includeIf \"hasconfig:remote.*.url:https://example.com/**\"]\npath = marks", true},
		"hasconfig of another":     {"[includeIf \"hasconfig:remote.*.url:https://example.org/**\"]\npath = marks", false},
		"hasconfig of another key": {"[includeIf \"hasconfig:remote.origin.url:**\"]\npath = marks", false},
		"unknown condition":        {"[includeIf \"weather:fine\"]\npath = marks", false},
		"by a link":                {"[includeIf \"gitdir:~/link/\"]\npath = marks", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("home/marks", "[remote]\npushDefault = marked\n")
			w.write("home/.gitconfig", c.include+"\n")
			w.repository("home/work/r", "https://example.com/origin")
			w.git("home/work/r", "remote", "add", "marked", "https://example.com/marked")
			want := "https://example.com/origin"
			if c.holds {
				want = "https://example.com/marked"
				require.Equal(t, "marked", w.git("home/work/r", "config", marked), "git includes the file")
			} else {
				require.NotContains(t, w.git("home/work/r", "config", "--list", "--includes"), "pushdefault", "git does not include the file")
			}
			require.Equal(t, want, w.find("home/work/r").Remote)
		})
	}
}

// A folder may be called by a name that contains a symbolic link; conditions may use either name.
func TestConditionsKnowBothNamesOfAFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("home/marks", "[remote]\npushDefault = marked\n")
	w.write("home/.gitconfig", "[includeIf \"gitdir:~/link/\"]\npath = marks\n")
	w.repository("disk/r", "https://example.com/origin")
	w.git("disk/r", "remote", "add", "marked", "https://example.com/marked")
	if err := os.Symlink(w.path("disk"), w.path("home/link")); err != nil {
		t.Skip(err)
	}
	require.Equal(t, "marked", w.git("home/link/r", "config", "remote.pushDefault"))
	require.Equal(t, "https://example.com/marked", w.find("home/link/r").Remote)
	require.Equal(t, "https://example.com/origin", w.find("disk/r").Remote)
	require.Equal(t, w.path("disk/r"), w.find("home/link/r").Root)
}

func TestOutsideOfARepositoryThereIsNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("plain/file", "")
	w.write("half/.git/config", "[remote \"origin\"]\nurl = https://example.com/x\n") // no HEAD: git passes it over
	for _, dir := range []string{"plain", "plain/missing", "half"} {
		_, ok, err := gitremote.Find(w.configured, w.path(dir))
		require.NoError(t, err)
		require.False(t, ok, dir)
	}
}

// memory is a repository in memory with the given files below its .git.
func memory(t *testing.T, files map[string]string) gitremote.Machine {
	t.Helper()
	m := gitremote.Machine{Fs: afero.NewMemMapFs(), Home: "/home/ann", Config: []string{"/home/ann/.gitconfig"}}
	require.NoError(t, m.Fs.MkdirAll("/w/.git/objects", 0o700))
	require.NoError(t, afero.WriteFile(m.Fs, "/w/.git/HEAD", []byte("ref: refs/heads/main\n"), 0o600))
	for name, content := range files {
		require.NoError(t, afero.WriteFile(m.Fs, name, []byte(content), 0o600))
	}
	return m
}

// Whatever a repository brings along, Find returns, and in time.
func TestHostileConfigurations(t *testing.T) {
	t.Parallel()
	const remote = "[remote \"origin\"]\nurl = https://example.com/x\n"
	fan := map[string]string{}
	for i := range 30 {
		fan[fmt.Sprintf("/w/.git/f%d", i)] = strings.Repeat(fmt.Sprintf("[include]\npath = f%d\n", (i+1)%30), 50)
	}
	fan["/w/.git/config"] = remote + "[include]\npath = f0\n"
	for name, c := range map[string]struct {
		files map[string]string
		kind  fault.Kind
	}{
		"includes itself":       {map[string]string{"/w/.git/config": "[include]\npath = config\n" + remote}, ""},
		"circle":                {map[string]string{"/w/.git/config": "[include]\npath = a\n" + remote, "/w/.git/a": "[include]\npath = config\n"}, ""},
		"fan":                   {fan, fault.TooLarge},
		"huge":                  {map[string]string{"/w/.git/config": strings.Repeat("# comment\n", 1<<20)}, fault.IO},
		"many large":            {map[string]string{"/w/.git/config": strings.Repeat("[include]\npath = a\n", 20), "/w/.git/a": strings.Repeat("#\n", 1<<20)}, fault.TooLarge},
		"garbage":               {map[string]string{"/w/.git/config": "\x7fELF"}, fault.Damaged},
		"zero bytes":            {map[string]string{"/w/.git/config": remote + "\x00"}, fault.Damaged},
		"includes a directory":  {map[string]string{"/w/.git/config": "[include]\npath = objects\n"}, fault.IO},
		"user's file is broken": {map[string]string{"/home/ann/.gitconfig": "[", "/w/.git/config": remote}, fault.Damaged},
		"long line":             {map[string]string{"/w/.git/config": remote + "[a]\nb = " + strings.Repeat("\\\"", 1<<20)}, ""},
		"many brackets":         {map[string]string{"/w/.git/config": remote + strings.Repeat("[a \"", 1<<18)}, fault.Damaged},
		"slow pattern":          {map[string]string{"/w/.git/config": "[includeIf \"gitdir:" + strings.Repeat("**/*a", 200) + "\"]\npath = x\n" + remote}, ""},
		"slow pattern for a branch": {map[string]string{
			"/w/.git/HEAD":   "ref: refs/heads/" + strings.Repeat("a/", 2000) + "\n",
			"/w/.git/config": "[includeIf \"onbranch:" + strings.Repeat("**/a*/*a*/", 200) + "b\"]\npath = x\n" + remote,
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, ok, err := gitremote.Find(memory(t, c.files), "/w/sub")
			require.True(t, ok)
			require.Equal(t, filepath.FromSlash("/w"), r.Root)
			require.Equal(t, "sub", r.Folder)
			if c.kind != "" {
				require.Equal(t, c.kind, fault.KindOf(err), "%v", err)
				require.Empty(t, r.Remote)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "https://example.com/x", r.Remote)
		})
	}
}

func TestAPointerMustBeGits(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "x", "gitdir:", strings.Repeat("gitdir: /", 1000)} {
		m := gitremote.Machine{Fs: afero.NewMemMapFs()}
		require.NoError(t, afero.WriteFile(m.Fs, "/w/.git", []byte(content), 0o600))
		_, ok, err := gitremote.Find(m, "/w")
		require.Error(t, err)
		require.False(t, ok)
	}
	m := gitremote.Machine{Fs: afero.NewMemMapFs()}
	require.NoError(t, afero.WriteFile(m.Fs, "/w/.git", []byte("gitdir: /w/.git\n"), 0o600))
	_, ok, err := gitremote.Find(m, "/w")
	require.NoError(t, err)
	require.False(t, ok)
}

func TestConfigFiles(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]int{"": 3, "GIT_CONFIG_NOSYSTEM=1": 2, "GIT_CONFIG_GLOBAL=/g": 2, "XDG_CONFIG_HOME=/x": 3} {
		name, value, _ := strings.Cut(env, "=")
		got := gitremote.ConfigFiles("/home/ann", func(n string) string {
			if n == name {
				return value
			}
			return ""
		})
		require.Len(t, got, want, env)
	}
	require.Len(t, gitremote.ConfigFiles("", func(string) string { return "" }), 1)
}
