//go:build linux

package procgroup_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

// leashArg makes the test program a leash.
const leashArg = "procgroup-test-leash"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == leashArg {
		code, err := procgroup.Leash(os.Args[2:], os.Stdin)
		if err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			code = 70
		}
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// held is a program on a leash.
type held struct {
	*exec.Cmd
	group *procgroup.Group
	leash io.Closer
	out   *bufio.Reader
}

func hold(t *testing.T, script string) held {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], leashArg, "sh", "-c", script)
	leash, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	group, err := procgroup.Start(cmd)
	require.NoError(t, err)
	return held{cmd, group, leash, bufio.NewReader(out)}
}

func (h held) line(t *testing.T) string {
	t.Helper()
	line, err := h.out.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// rest waits for the end of all processes that have the output.
func (h held) rest(t *testing.T) string {
	t.Helper()
	rest, err := io.ReadAll(h.out)
	require.NoError(t, err)
	_ = h.Wait() // the exit code is the result
	return string(rest)
}

func TestALeashedProgramHasItsExitCode(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137} {
		h := hold(t, script)
		h.rest(t)
		require.Equal(t, want, h.ProcessState.ExitCode(), script)
		_ = h.leash.Close()
	}
}

// A command runs as long as something that it started does.
func TestALeashWaitsForOrphans(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	h := hold(t, `(read line <'`+pipe+`'; echo late) & echo ready; exit 3`)
	require.Equal(t, "ready", h.line(t))
	require.NoError(t, os.WriteFile(pipe, []byte("\n"), 0o600))
	require.Equal(t, "late\n", h.rest(t))
	require.Equal(t, 3, h.ProcessState.ExitCode())
	_ = h.leash.Close()
}

// Processes that left the group and the session, that ignore signals and that lost their parents end with the
// leash.
func TestTheEndOfTheLeashEndsAllDescendants(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a group":          `sleep 1000 & sleep 1000 & echo $! ; wait`,
		"another session":  `setsid sh -c 'echo $$; exec sleep 1000'`,
		"a double fork":    `(setsid sh -c 'echo $$; trap "" HUP TERM; while :; do sleep 1000; done' &) ; exit 0`,
		"ignored signals":  `trap '' TERM INT HUP; echo $$; while :; do sleep 1000; done`,
		"a stopped one":    `sh -c 'echo $$; kill -STOP $$'`,
		"one that respawn": `trap '' TERM; echo $$; while :; do setsid sleep 1000; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hold(t, script)
			pid, err := strconv.Atoi(h.line(t))
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(pid, 0))
			require.NoError(t, h.leash.Close())
			h.rest(t)
			require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
		})
	}
}

// A program that kills its leash ends itself.
func TestAProgramCannotCutItsLeash(t *testing.T) {
	t.Parallel()
	h := hold(t, `echo $$; kill -9 $PPID; while :; do sleep 1000; done`)
	pid, err := strconv.Atoi(h.line(t))
	require.NoError(t, err)
	require.Error(t, h.Wait())
	h.group.Kill() // what the owner of the leash does then
	require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, 30*time.Second, time.Millisecond)
	_ = h.leash.Close()
}

// Fifty processes that start each other again do not outrun the end of the leash.
func TestTheEndOfTheLeashEndsProcessesThatMultiply(t *testing.T) {
	t.Parallel()
	h := hold(t, `
		trap '' TERM
		for i in $(seq 50); do (trap '' TERM; while :; do setsid sleep 5 & wait; done) & done
		echo $$; wait`)
	h.line(t)
	require.NoError(t, h.leash.Close())
	h.rest(t)
}

// A signal to the group ends the program and not its leash first.
func TestATerminatedGroupCleansUp(t *testing.T) {
	t.Parallel()
	h := hold(t, `trap 'echo cleaned up; exit 5' TERM; echo ready; while :; do sleep 1; done`)
	h.line(t)
	h.group.Terminate()
	require.Equal(t, "cleaned up\n", h.rest(t))
	require.Equal(t, 5, h.ProcessState.ExitCode())
	_ = h.leash.Close()
}
