package sandbox_test

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
)

// launcherArg makes the test program the launcher.
const launcherArg = "sandbox-test-launcher"

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == launcherArg {
		var p sandbox.Policy
		err := json.Unmarshal([]byte(os.Args[2]), &p)
		if err == nil {
			err = sandbox.Exec(p, os.Args[4:])
		}
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(70)
	}
	os.Exit(m.Run())
}

// place is a home with a secret, a folder to work in and something outside of both.
type place struct {
	t                         *testing.T
	home, work, outside, temp string
	box                       *sandbox.Box
}

func newPlace(t *testing.T) place {
	t.Helper()
	if s := sandbox.Supported(); !s.OK {
		require.Empty(t, os.Getenv("XCSH_REQUIRE_SANDBOX"), s.Sentence) // scripts/test.sh sets it
		t.Skip(s.Sentence)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := place{t: t}
	for _, d := range []struct {
		to   *string
		name string
	}{{&p.home, "home"}, {&p.work, "home/work"}, {&p.outside, "outside"}, {&p.temp, "tmp"}} {
		*d.to = filepath.Join(dir, d.name)
		require.NoError(t, os.MkdirAll(*d.to, 0o700))
	}
	p.write(filepath.Join(p.home, ".ssh", "id"), "secret")
	p.write(filepath.Join(p.home, ".netrc"), "secret")
	p.write(filepath.Join(p.home, "notes"), "ordinary")
	p.write(filepath.Join(p.work, "file"), "mine")
	p.write(filepath.Join(p.outside, "file"), "old")
	self, err := os.Executable()
	require.NoError(t, err)
	p.box = &sandbox.Box{
		Launcher: []string{self, launcherArg}, Home: p.home, Temp: p.temp, OS: "linux", Getenv: func(string) string { return "" },
		Deny: func() []string {
			return []string{filepath.Join(p.home, ".ssh"), filepath.Join(p.home, ".netrc"), filepath.Join(p.home, ".none"), "/etc/shadow"}
		},
	}
	return p
}

func (p place) write(path, text string) {
	p.t.Helper()
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(p.t, os.WriteFile(path, []byte(text), 0o600))
}

// run runs a line of shell in the folder.
func (p place) run(level sandbox.Level, line string) (string, error) {
	p.t.Helper()
	argv, _, err := p.box.Argv(p.work, level, []string{"bash", "-c", line})
	require.NoError(p.t, err)
	cmd := exec.CommandContext(p.t.Context(), argv[0], argv[1:]...)
	cmd.Dir = p.work
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "TMPDIR=" + p.temp, "GORACE=atexit_sleep_ms=0"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	return out.String(), err
}

func TestStandardWritesToTheFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	out, err := p.run(sandbox.Standard, `echo a >new && mkdir d && mv new d/ && cat d/new && rm file && echo b >$TMPDIR/x && cat ~/notes ../notes && echo x >/dev/null && ls ~ >/dev/null`)
	require.NoError(t, err, out)
	require.Equal(t, "a\nordinaryordinary", out)
}

func TestStandardChangesNothingElse(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	p := newPlace(t)
	for _, line := range []string{
		"echo x >~/new", "echo x >~/notes", "echo x >>~/.netrc", "rm ~/.netrc", "mv ~/notes .", "ln ~/notes .", "mkdir ~/d", "echo x >../../outside/file",
		": >../../outside/file", "truncate -s 0 ../../outside/file", "rm -rf ../../outside/file", "touch /etc/x",
		`python3 -c "import os; os.open('../../outside/file', os.O_RDONLY | os.O_TRUNC)"`, "sh -c 'sh -c \"echo x >~/new\"'", "setsid sh -c 'echo x >~/new'",
	} {
		out, err := p.run(sandbox.Standard, line)
		require.Error(t, err, "%s: %s", line, out)
	}
	content, err := os.ReadFile(filepath.Join(p.outside, "file"))
	require.NoError(t, err)
	require.Equal(t, "old", string(content))
	require.NoFileExists(t, filepath.Join(p.home, "new"))
}

// readSecrets are ways to read denied files.
var readSecrets = []string{
	"cat ~/.ssh/id", `echo "$(<~/.ssh/id)"`, "cat ~/.netrc", "ln -sf ~/.ssh/id l; cat l", "cp ~/.netrc .", "cd ~/.ssh && cat id", "cat /proc/self/root$HOME/.ssh/id",
	"cat /proc/self/cwd/../.ssh/id", "exec 9<~/.netrc; cat <&9", "ln ~/.netrc hard; cat hard", "mount --bind ~/.ssh d", "unshare -Ur cat ~/.netrc", "cat /etc/shadow",
	"dd if=/dev/vda count=1", "cat /proc/1/environ", "tar cf - ~/.ssh 2>/dev/null | strings | grep secret", "cat /proc/kcore | head -c 1",
}

func TestSecretsAreNotRead(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	for _, level := range []sandbox.Level{sandbox.Strict, sandbox.Standard} {
		p := newPlace(t)
		for _, line := range readSecrets {
			out, err := p.run(level, line)
			if !strings.HasPrefix(line, "echo") && !strings.Contains(line, "|") {
				require.Error(t, err, "%s: %s: %s", level, line, out)
			}
			assert.NotContains(t, out, "secret", "%s: %s", level, line)
			assert.NotContains(t, out, "root:", "%s: %s", level, line)
		}
	}
}

func TestStrictOnlyReads(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	out, err := p.run(sandbox.Strict, "cat file ../notes; ls ~ / >/dev/null && echo x >/dev/null && head -c 1 /dev/zero | wc -c; git --version >/dev/null && echo ok")
	require.NoError(t, err, out)
	require.Equal(t, "mineordinary1\nok\n", out)
	for _, line := range []string{"echo x >file", "echo x >$TMPDIR/x", "rm file", "mkdir d", "touch file", "echo x >/dev/shm/x", "kill -0 " + itoa(os.Getpid()), "ulimit -d unlimited", "chmod 777 ~/notes", "chown 1 file", "setfattr -n user.x file"} {
		out, err := p.run(sandbox.Strict, line)
		require.Error(t, err, "%s: %s", line, out)
	}
}

func TestTheNetwork(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	p := newPlace(t)
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	connect := "exec 3<>/dev/tcp/127.0.0.1/" + port
	out, err := p.run(sandbox.Standard, connect)
	require.NoError(t, err, out)

	socket := filepath.Join(p.work, "socket")
	local, err := listen.Listen(t.Context(), "unix", socket)
	require.NoError(t, err)
	defer func() { _ = local.Close() }()
	python := func(code string) string { return `python3 -c "import socket; ` + code + `"` }
	for _, line := range []string{
		connect, "echo x >/dev/udp/127.0.0.1/9", python("socket.socket()"), python("socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)"),
		python("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
	} {
		out, err := p.run(sandbox.Strict, line)
		require.Error(t, err, "%s: %s", line, out)
	}
	for _, level := range []sandbox.Level{sandbox.Strict, sandbox.Standard} {
		for _, line := range []string{
			python("socket.socket(socket.AF_UNIX).connect('" + socket + "')"), python("socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)"),
			python("socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)"), python("socket.socket(socket.AF_VSOCK)"),
		} {
			out, err := p.run(level, line)
			require.Error(t, err, "%s: %s: %s", level, line, out)
		}
		out, err := p.run(level, python("socket.socketpair()"))
		require.NoError(t, err, out)
	}
}

// A folder with secrets in it keeps them: the home directory is one.
func TestSecretsWithinTheFolder(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.work = p.home
	out, err := p.run(sandbox.Standard, "echo new >work/file && cat notes")
	require.NoError(t, err, out)
	for _, line := range []string{"cat .netrc", "cat .ssh/id", "echo x >.netrc", "mv .netrc work/", "rm -r .ssh", "mv .ssh work/ssh", "ln .netrc work/hard"} {
		out, err := p.run(sandbox.Standard, line)
		require.Error(t, err, "%s: %s", line, out)
		assert.NotContains(t, out, "secret")
	}
}

func TestFilesOfTheServerAreClosed(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	out, err := p.run(sandbox.Strict, "ls /proc/self/fd | wc -l")
	require.NoError(t, err)
	require.Equal(t, "4", strings.TrimSpace(out), "three streams and the directory itself")
}

func TestExitCodesAndSignalsPass(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	_, err := p.run(sandbox.Strict, "exit 7")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, exit.ExitCode())
	_, err = p.run(sandbox.Standard, "sleep 100 & kill $!; wait $!; exit $?")
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 143, exit.ExitCode(), "its own children can be ended")
}

// A new user has no caches yet, and cannot make them from within.
func TestTheFirstBuildOfANewUser(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(filepath.Join(p.work, "go.mod"), "module x\n")
	p.write(filepath.Join(p.work, "main.go"), "package main\nfunc main() {}\n")
	out, err := p.run(sandbox.Standard, "GOFLAGS=-buildvcs=false GOTOOLCHAIN=local go env GOCACHE && touch $(go env GOCACHE)/x")
	require.NoError(t, err, out)
	require.FileExists(t, filepath.Join(p.home, ".cache", "go-build", "x"))
}

func TestMemoryHasABound(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, level := range []sandbox.Level{sandbox.Strict, sandbox.Standard} {
		out, err := p.run(level, "ulimit -d; ulimit -c")
		require.NoError(t, err)
		require.NotContains(t, out, "unlimited", level)
	}
}

// A command that can replace a cache in its folder with a link to elsewhere gains no access for the
// next one.
func TestLinksInPlaceOfCaches(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.box.Getenv = func(name string) string {
		return map[string]string{"CARGO_TARGET_DIR": filepath.Join(p.work, "target"), "GOCACHE": filepath.Join(p.home, "go-build")}[name]
	}
	require.NoError(t, os.Symlink(filepath.Join(p.temp, "gb"), filepath.Join(p.home, "go-build")))
	for _, link := range []string{"target", "$TMPDIR/gb"} {
		out, err := p.run(sandbox.Standard, "ln -s ~ "+link)
		require.NoError(t, err, out)
		out, err = p.run(sandbox.Standard, "echo x >~/notes")
		require.Error(t, err, out)
		out, err = p.run(sandbox.Standard, "rm "+link+" && mkdir "+link+" && echo x >"+link+"/x")
		require.NoError(t, err, out)
	}
}

// State that belongs to no file is not changed either.
func TestStrictChangesNoOtherProcessAndNoSharedMemory(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, line := range []string{"ipcmk -M 64", "ipcmk -Q", "ipcmk -S 1", "prlimit --pid $PPID --core=0:0", "chattr +d file"} {
		t.Run(line, func(t *testing.T) {
			if _, err := exec.LookPath(strings.Fields(line)[0]); err != nil {
				t.Skip(err)
			}
			out, err := p.run(sandbox.Strict, "bash -c '"+line+"; exit $?'")
			require.Error(t, err, out)
		})
	}
	out, err := p.run(sandbox.Strict, "ulimit -n 64 && ulimit -a")
	require.NoError(t, err, out)
}
