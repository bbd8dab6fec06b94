package sandbox_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// unixOnly skips a test whose paths are those of unix.
func unixOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of unix")
	}
}

func TestTheStrictPolicyHasNothingToWrite(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	box := sandbox.Box{OS: "linux", Home: "/h", Temp: "/t", Getenv: os.Getenv, Deny: func() []string { return []string{"/h/.ssh"} }}
	p, err := box.Policy("/w", sandbox.Strict)
	require.NoError(t, err)
	require.Equal(t, sandbox.Policy{Level: sandbox.Strict, Deny: []string{"/h/.ssh"}}, p)
	require.True(t, p.Readable("/h/notes"))
	require.False(t, p.Readable("/h/.ssh/id"))
	require.False(t, p.Writable("/w/x"))
}

func TestTheStandardPolicyHasCaches(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	env := map[string]string{"GOCACHE": "/c/go", "CARGO_HOME": "/c/cargo", "GRADLE_USER_HOME": "relative", "GOMODCACHE": "relative"}
	box := sandbox.Box{OS: "linux", Home: "/h", Temp: "/t", Getenv: func(name string) string { return env[name] }}
	p, err := box.Policy("/w", sandbox.Standard)
	require.NoError(t, err)
	require.True(t, p.Network)
	require.False(t, p.UnixSockets)
	for _, path := range []string{"/w/x", "/t/x", "/c/go/x", "/c/cargo/registry/x", "/h/.gradle/caches/x", "/h/.cache/go-build/x", "/h/.npm/_cacache/x"} {
		require.True(t, p.Writable(path), path)
	}
	for _, path := range []string{
		"/w2", "/c/cargo/bin/x", "/c/cargo/config.toml", "/h/.npmrc", "/h/x", "/h/.cache/other", "/h/.gradle/init.gradle", "relative",
		"/h/.deno/bin/deno", "/h/.pub-cache/bin/x", "/h/.stack/hooks/x", "/h/.stack/config.yaml", "/h/.hex/hex.config", "/h/.npm/_npx/x", "/h/.cache/pre-commit/x",
		"/h/.cache/node/corepack/x", "/h/.cache/bazelisk/x", "/h/.cache/helm/plugins/x",
	} {
		require.False(t, p.Writable(path), path)
	}
}

func TestRulesAddToAFolder(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	fs := afero.NewMemMapFs()
	rules := &sandbox.Rules{Fs: fs, Path: "/own/sandbox.json", Home: "/h"}
	box := sandbox.Box{OS: "linux", Home: "/h", Temp: "/t", Getenv: func(string) string { return "" }, Rules: rules, Deny: func() []string { return []string{"/h/.aws", "/h/.ssh"} }}
	require.NoError(t, afero.WriteFile(fs, "/own/sandbox.json", []byte(`{
		"*": {"env": ["CI_TOKEN"]},
		"~/w": {"write": ["~/out", "relative"], "read": ["~/.aws"], "env": ["AWS_PROFILE"], "unixSockets": true, "network": false}
	}`), 0o600))
	p, err := box.Policy("/h/w", sandbox.Standard)
	require.NoError(t, err)
	require.True(t, p.Writable("/h/out/x"))
	require.True(t, p.Readable("/h/.aws/credentials"))
	require.False(t, p.Readable("/h/.ssh/id"))
	require.True(t, p.UnixSockets)
	require.False(t, p.Network)
	require.Equal(t, []string{"CI_TOKEN", "AWS_PROFILE"}, box.Env("/h/w"))

	strict, err := box.Policy("/h/w", sandbox.Strict)
	require.NoError(t, err)
	require.False(t, strict.Readable("/h/.aws/credentials"), "strict commands run without approval")

	require.Equal(t, []string{"CI_TOKEN"}, box.Env("/h/other"))
	other, err := box.Policy("/h/other", sandbox.Standard)
	require.NoError(t, err)
	require.False(t, other.Writable("/h/out/x"))
}

// A file with a mistake is not half obeyed: the command that it is about does not run.
func TestDamagedRules(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{", `{"/w":{"unknown":1}}`, `[]`} {
		fs := afero.NewMemMapFs()
		require.NoError(t, afero.WriteFile(fs, "/own/sandbox.json", []byte(text), 0o600))
		box := sandbox.Box{OS: "linux", Temp: "/t", Getenv: func(string) string { return "" }, Rules: &sandbox.Rules{Fs: fs, Path: "/own/sandbox.json"}}
		_, _, err := box.Argv("/w", sandbox.Standard, []string{"ls"})
		require.ErrorContains(t, err, "The sandbox rules in /own/sandbox.json cannot be read, so no command was run:")
		require.Empty(t, box.Env("/w"))
	}
}

func TestArgv(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	box := sandbox.Box{Launcher: []string{"me", "--policy"}, OS: "linux", Temp: "/t", Getenv: func(string) string { return "" }}
	argv, _, err := box.Argv("/w", sandbox.Strict, []string{"ls", "-l"})
	require.NoError(t, err)
	require.Equal(t, []string{"me", "--policy", `{"level":0}`, "--", "ls", "-l"}, argv)
	argv, _, err = box.Argv("/w", sandbox.Outside, []string{"ls"})
	require.NoError(t, err)
	require.Equal(t, []string{"ls"}, argv)
	box.OS = "darwin"
	argv, _, err = box.Argv("/w", sandbox.Strict, []string{"ls"})
	require.NoError(t, err)
	require.Equal(t, []string{"/usr/bin/sandbox-exec", "-p"}, argv[:2])
	box.OS = "plan9"
	_, _, err = box.Argv("/w", sandbox.Strict, []string{"ls"})
	require.ErrorContains(t, err, "There is no sandbox on this system")
}

func TestGitDirs(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(name string) string { return filepath.Join(dir, name) }

	write(t, at("repo/.git/HEAD"), "ref")
	require.NoError(t, os.MkdirAll(at("repo/part/deep"), 0o700))
	require.Empty(t, sandbox.GitDirs(at("repo")), "it is in the folder")
	require.Equal(t, []string{at("repo/.git")}, sandbox.GitDirs(at("repo/part/deep")))

	write(t, at("tree/.git"), "gitdir: "+at("repo/.git/worktrees/tree")+"\n")
	require.Empty(t, sandbox.GitDirs(at("tree")), "git knows nothing of it")
	write(t, at("repo/.git/worktrees/tree/gitdir"), at("tree/.git")+"\n")
	require.Equal(t, []string{at("repo/.git")}, sandbox.GitDirs(at("tree")))

	for name, text := range map[string]string{
		"a": "gitdir: " + at("home/.ssh"), "b": "gitdir: ../home", "c": "", "d": "gitdir: " + at("repo/.git/worktrees/tree"), "e": "gitdir: /", "f": "x",
	} {
		write(t, at(name+"/.git"), text)
		require.Empty(t, sandbox.GitDirs(at(name)), text)
	}
	require.NoError(t, os.MkdirAll(at("linked"), 0o700))
	require.NoError(t, os.Symlink(at("repo/.git"), at("linked/.git")))
	require.Empty(t, sandbox.GitDirs(at("linked")))
}

func TestBlocked(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	p := sandbox.Policy{Level: sandbox.Standard, Write: []string{"/w"}, Network: true}
	for _, c := range []struct {
		output string
		want   []string
	}{
		{"ok\n", nil},
		{"touch: cannot touch '/etc/x': Permission denied\n", []string{"touch: cannot touch '/etc/x': Permission denied"}},
		{"bash: ./script.sh: Permission denied\n", nil}, // no rule of the sandbox
		{"open /h/.cache/x: permission denied\nopen /h/.cache/x: permission denied\n", []string{"open /h/.cache/x: permission denied"}},
		{"EACCES: permission denied, mkdir '/usr/lib/node_modules'\n", []string{"EACCES: permission denied, mkdir '/usr/lib/node_modules'"}},
		{"Cannot connect to the Docker daemon: operation not permitted", []string{"Cannot connect to the Docker daemon: operation not permitted"}},
		{"curl: (6) Could not resolve host: example.com\n", nil}, // there is a network
	} {
		require.Equal(t, c.want, sandbox.Blocked(p, "/w", c.output), c.output)
	}
	p = sandbox.Policy{Level: sandbox.Strict}
	require.Len(t, sandbox.Blocked(p, "/w", "curl: (6) Could not resolve host: example.com\n"), 1)
	require.Len(t, sandbox.Blocked(p, "/w", "error: open(.git/index.lock): Permission denied\n"), 1)
}
