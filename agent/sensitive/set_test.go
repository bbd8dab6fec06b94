package sensitive_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
)

// machine is a home with credentials and a project beside it.
type machine struct {
	t          *testing.T
	home, work string
	set        *sensitive.Set
}

func newMachine(t *testing.T, variables ...string) machine {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m := machine{t: t, home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	for _, name := range []string{".ssh/id_rsa", ".netrc", ".xcsh/agent/auth.json", ".xcsh/agent/auth.json.bak", ".xcsh/agent/settings.json", "plain"} {
		m.write(filepath.Join(m.home, name))
	}
	m.write(filepath.Join(m.work, "file"))
	values := map[string]string{}
	for i := 0; i < len(variables); i += 2 {
		values[variables[i]] = filepath.Join(dir, variables[i+1])
	}
	m.set = sensitive.New(sensitive.Env{
		Home: m.home, OS: runtime.GOOS, AgentDirs: []string{filepath.Join(dir, "agent")},
		Getenv: func(name string) string { return values[name] },
	})
	return m
}

func (m machine) write(path string) {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(m.t, os.WriteFile(path, []byte("x"), 0o600))
}

func (m machine) denies(path string) bool { return m.set.Denies(afero.NewOsFs(), path) }

func TestDenies(t *testing.T) {
	m := newMachine(t, "GH_CONFIG_DIR", "gh", "CARGO_HOME", "cargo", "XDG_CONFIG_HOME", "config")
	top := filepath.Dir(m.home)
	for _, path := range []string{
		m.home + "/.ssh", m.home + "/.ssh/id_rsa", m.home + "/.ssh/new", m.home + "/.netrc", m.home + "/.aws/credentials",
		m.home + "/.xcsh/agent/auth.json", m.home + "/.xcsh/agent/auth.json.bak", m.home + "/.pi/agent/models.json",
		m.home + "/.omp/agent/agent.db-wal", m.home + "/.bash_history", m.home + "/.m2/settings.xml",
		m.home + "/Library/Keychains/login.keychain-db", m.home + "/work/../.ssh/id_rsa",
		m.home + "/.config/google-chrome/Default/Cookies", top + "/agent/auth.json", top + "/agent/.auth.json.tmp",
		top + "/gh/hosts.yml", top + "/cargo/credentials.toml", top + "/config/git/credentials",
	} {
		assert.True(t, m.denies(path), path)
	}
	for _, path := range []string{
		m.home, m.home + "/plain", m.home + "/.sshx", m.home + "/.xcsh/agent", m.home + "/.xcsh/agent/settings.json",
		m.home + "/.cargo/bin/x", m.home + "/.config", top + "/cargo/config.toml", m.work, m.work + "/auth.json", m.work + "/models.json", "/",
		m.work + "/.netrc", "/dev/null",
	} {
		assert.False(t, m.denies(path), path)
	}
}

func TestDeniesMachine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Unix paths")
	}
	m := newMachine(t)
	for _, path := range []string{
		"/etc/shadow", "/etc/sudoers.d/x", "/proc/self/environ", "/proc/1/environ", "/proc/1/mem", "/proc/1/task/1/environ",
		"/proc/self/fd/0", "/proc/thread-self/environ", "/proc/kcore", "/dev/mem",
		"/proc/self/root" + m.home + "/.ssh/id_rsa", "/proc/self/cwd/../../../../../../../../../../etc/shadow",
	} {
		assert.True(t, m.denies(path), path)
	}
	assert.False(t, m.denies("/proc/cpuinfo"))
	assert.False(t, m.denies("/etc/hosts"))
}

func TestDeniesBehindLinks(t *testing.T) {
	m := newMachine(t)
	link := func(to, name string) string {
		path := filepath.Join(m.work, name)
		require.NoError(t, os.Symlink(to, path))
		return path
	}
	assert.True(t, m.denies(link(m.home+"/.ssh/id_rsa", "key")))
	assert.True(t, m.denies(filepath.Join(link(m.home+"/.ssh", "keys"), "id_rsa")))
	assert.True(t, m.denies(filepath.Join(link(m.home, "h"), ".netrc")))
	assert.True(t, m.denies(filepath.Join(link("../home", "relative"), ".netrc")))
	assert.True(t, m.denies(link("h/.netrc", "twice")))
	assert.True(t, m.denies(m.work+"/h/.ssh/../.netrc"))
	assert.True(t, m.denies(link(m.home+"/.aws/new", "dangling")))
	assert.False(t, m.denies(link(m.home+"/plain", "plain")))
	assert.False(t, m.denies(link("loop", "loop")))
}

func TestDeniesWhereAListedPathIsALink(t *testing.T) {
	m := newMachine(t)
	dotfiles := filepath.Join(filepath.Dir(m.home), "dotfiles")
	m.write(filepath.Join(dotfiles, "aws", "credentials"))
	require.NoError(t, os.Symlink(filepath.Join(dotfiles, "aws"), filepath.Join(m.home, ".aws")))
	require.NoError(t, os.Symlink(m.home, filepath.Join(m.home, ".docker")))
	require.NoError(t, os.Symlink("/dev/null", filepath.Join(m.home, ".bash_history")))
	assert.True(t, m.denies(filepath.Join(dotfiles, "aws", "credentials")))
	assert.False(t, m.denies(filepath.Join(m.home, "plain")))
	assert.False(t, m.denies("/dev/null"))
}

// Some keep the files elsewhere and link them into the listed directory.
func TestDeniesTargetsOfLinksInListedDirectories(t *testing.T) {
	m := newMachine(t)
	vault := filepath.Join(filepath.Dir(m.home), "vault")
	m.write(filepath.Join(vault, "key"))
	require.NoError(t, os.Symlink(filepath.Join(vault, "key"), filepath.Join(m.home, ".ssh", "id_ed25519")))
	require.NoError(t, os.Symlink(m.home, filepath.Join(m.home, ".ssh", "home")))
	assert.True(t, m.denies(filepath.Join(vault, "key")))
	assert.False(t, m.denies(vault))
	assert.False(t, m.denies(filepath.Join(m.home, "plain")))
}

func TestDeniesOtherHomes(t *testing.T) {
	set := sensitive.New(sensitive.Env{Home: "/home/u", Homes: []string{"/home/u/", "/root", "/", ""}, OS: "linux"})
	fs := afero.NewMemMapFs()
	assert.True(t, set.Denies(fs, "/root/.ssh/id"))
	assert.True(t, set.Denies(fs, "/root/.pi/agent/auth.json"))
	assert.False(t, set.Denies(fs, "/.ssh/id"))
	assert.False(t, set.Denies(fs, "/root"))
}

// An open file may differ from the one that the path leads to now.
func TestDeniesFile(t *testing.T) {
	m := newMachine(t)
	view := m.set.Resolve(afero.NewOsFs())
	stat := func(path string) os.FileInfo {
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info
	}
	plain, key := filepath.Join(m.work, "file"), filepath.Join(m.home, ".ssh", "id_rsa")
	assert.False(t, view.DeniesFile(plain, stat(plain)))
	assert.True(t, view.DeniesFile(key, stat(key)))
	assert.True(t, view.DeniesFile(plain, stat(key)))
	assert.True(t, view.DeniesFile(key, stat(plain)))
	assert.True(t, view.DeniesFile(filepath.Join(m.work, "gone"), stat(plain)))
	require.NoError(t, os.Symlink(key, filepath.Join(m.work, "link")))
	assert.True(t, view.DeniesFile(filepath.Join(m.work, "link"), stat(key)))
	memory := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(memory, "/w/file", nil, 0o600))
	info, err := memory.Stat("/w/file")
	require.NoError(t, err)
	assert.False(t, m.set.Resolve(memory).DeniesFile("/w/file", info))
}

// A walk checks each entry of directories that are not denied.
func TestDeniesEntry(t *testing.T) {
	m := newMachine(t)
	require.NoError(t, os.Link(filepath.Join(m.home, ".netrc"), filepath.Join(m.home, "copy")))
	require.NoError(t, os.Symlink(m.home, filepath.Join(m.work, "home")))
	view := m.set.Resolve(afero.NewOsFs())
	for _, dir := range []string{m.home, filepath.Join(m.work, "home")} {
		denied := map[string]bool{}
		entries, err := afero.ReadDir(afero.NewOsFs(), dir)
		require.NoError(t, err)
		for _, e := range entries {
			denied[e.Name()] = view.DeniesEntry(dir, e)
		}
		assert.Equal(t, map[string]bool{".ssh": true, ".netrc": true, ".xcsh": false, "plain": false, "copy": true}, denied)
	}
	agent := filepath.Join(m.home, ".xcsh", "agent")
	entries, err := afero.ReadDir(afero.NewOsFs(), agent)
	require.NoError(t, err)
	for _, e := range entries {
		assert.Equal(t, e.Name() != "settings.json", view.DeniesEntry(agent, e), e.Name())
	}
}

func TestDeniesHardLinks(t *testing.T) {
	m := newMachine(t)
	for i, name := range []string{".ssh/id_rsa", ".netrc", ".xcsh/agent/auth.json"} {
		path := filepath.Join(m.work, string(rune('a'+i)))
		require.NoError(t, os.Link(filepath.Join(m.home, name), path))
		assert.True(t, m.denies(path), name)
	}
	require.NoError(t, os.Link(filepath.Join(m.home, "plain"), filepath.Join(m.work, "plain")))
	assert.False(t, m.denies(filepath.Join(m.work, "plain")))
}

func TestDeniesOtherCase(t *testing.T) {
	set := sensitive.New(sensitive.Env{Home: "/Users/u", OS: "darwin"})
	fs := afero.NewMemMapFs()
	assert.True(t, set.Denies(fs, "/Users/u/.SSH/ID_rsa"))
	assert.True(t, set.Denies(fs, "/users/U/.XCSH/agent/AUTH.json"))
	assert.False(t, sensitive.New(sensitive.Env{Home: "/Users/u", OS: "linux"}).Denies(fs, "/Users/u/.SSH/ID_rsa"))
}

func TestPaths(t *testing.T) {
	all := sensitive.Paths(sensitive.Env{Home: "/home/u", OS: "linux", AgentDirs: []string{"/a", "relative", "/"}, Getenv: func(name string) string {
		return map[string]string{"HISTFILE": "/dev/null", "DOCKER_CONFIG": "/home", "NETRC": "n", "KUBECONFIG": "/k/1:/k/2", "GH_CONFIG_DIR": "/home/u/.config/gh/x"}[name]
	}})
	for _, path := range []string{"/home/u/.ssh", "/a/auth.json", "/k/1", "/k/2", "/etc/shadow", "/home/u/.config/gh"} {
		assert.Contains(t, all, path)
	}
	for _, path := range []string{"/dev/null", "/home", "n", "/auth.json", "/home/u/.config/gh/x", "/home/u/.m2/settings.xml"} {
		assert.NotContains(t, all, path)
	}
	seen := map[string]bool{}
	for _, path := range all {
		assert.True(t, filepath.IsAbs(path), path)
		assert.False(t, seen[path], path)
		seen[path] = true
	}
}

func TestNothing(t *testing.T) {
	var none *sensitive.Set
	assert.False(t, none.Denies(afero.NewMemMapFs(), "/etc/shadow"))
	assert.Empty(t, none.Paths())
	bare := sensitive.New(sensitive.Env{OS: "linux"})
	assert.True(t, bare.Denies(afero.NewMemMapFs(), "/etc/shadow"))
}

// The target of a link is relative to its own location, not to the path that leads there.
func TestTarget(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "deep", "er"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for name, to := range map[string]string{
		"short": "deep/er", "deep/er/up": "../new", "deep/er/abs": filepath.Join(dir, "deep"), "a": "b", "b": "a",
	} {
		require.NoError(t, os.Symlink(filepath.FromSlash(to), filepath.Join(dir, filepath.FromSlash(name))))
	}
	for path, want := range map[string]string{
		"file": "file", "none/x": "none/x", "short/up": "deep/new", "short/../x": "deep/x", "short/abs/./er/": "deep/er", "file/x": "file/x",
	} {
		got, err := sensitive.Target(afero.NewOsFs(), dir+"/"+path)
		require.NoError(t, err)
		require.Equal(t, filepath.Join(dir, filepath.FromSlash(want)), got, path)
		require.Equal(t, got, sensitive.Resolve(afero.NewOsFs(), dir+"/"+path), path)
	}
	_, err = sensitive.Target(afero.NewOsFs(), filepath.Join(dir, "a"))
	require.ErrorContains(t, err, "too many symbolic links")
}

// A directory that cannot be read: Resolve returns the path, Target fails.
func TestTargetFailsForAnUnreadableDirectory(t *testing.T) {
	t.Parallel()
	fsys := unreadable{afero.NewOsFs().(*afero.OsFs)}
	path := filepath.Join(t.TempDir(), "file")
	_, err := sensitive.Target(fsys, path)
	require.ErrorIs(t, err, fs.ErrPermission)
	require.Equal(t, path, sensitive.Resolve(fsys, path))
}

// unreadable denies information about every file.
type unreadable struct{ *afero.OsFs }

func (unreadable) LstatIfPossible(string) (fs.FileInfo, bool, error) {
	return nil, true, fs.ErrPermission
}

func FuzzResolve(f *testing.F) {
	f.Add("/a/../../b")
	f.Add("a//b/./..")
	f.Fuzz(func(t *testing.T, path string) {
		got := sensitive.Resolve(afero.NewMemMapFs(), "/"+path)
		assert.Equal(t, filepath.Clean(got), got)
		onDisk := sensitive.Resolve(afero.NewOsFs(), "/"+path)
		assert.True(t, filepath.IsAbs(onDisk))
		assert.Equal(t, filepath.Clean(onDisk), onDisk)
	})
}

func BenchmarkResolve(b *testing.B) {
	home, _ := os.UserHomeDir()
	set := sensitive.New(sensitive.Env{Home: home, OS: runtime.GOOS})
	for b.Loop() {
		set.Resolve(afero.NewOsFs()).Denies("/")
	}
}

func BenchmarkDenies(b *testing.B) {
	home, _ := os.UserHomeDir()
	view := sensitive.New(sensitive.Env{Home: home, OS: runtime.GOOS}).Resolve(afero.NewOsFs())
	path, _ := filepath.Abs("set_test.go")
	for b.Loop() {
		view.Denies(path)
	}
}

// Commands are denied what the file tools refuse: files behind links in a listed directory, and
// copies of keys.
func TestCommandsAreDeniedLinksAndCopies(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	m := newMachine(t)
	kept := filepath.Join(m.home, "dotfiles", "credentials")
	m.write(kept)
	require.NoError(t, os.Mkdir(filepath.Join(m.home, ".aws"), 0o700))
	require.NoError(t, os.Symlink(kept, filepath.Join(m.home, ".aws", "credentials")))
	require.NoError(t, os.Symlink(m.home, filepath.Join(m.home, ".aws", "home")))
	elsewhere := filepath.Join(m.work, "file") // splitting its directory would keep commands from writing there
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(m.home, ".aws", "elsewhere")))
	denied := m.set.Commands()
	require.NotContains(t, denied, elsewhere)
	require.Contains(t, denied, kept)
	require.Contains(t, denied, filepath.Join(m.home, ".xcsh/agent/auth.json.bak"))
	require.NotContains(t, denied, m.home)
	require.NotContains(t, denied, filepath.Join(m.home, ".xcsh/agent/settings.json"))
}
