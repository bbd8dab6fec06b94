//go:build linux

package procgroup_test

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

// family starts a script as the head of a family, and returns the number that it prints.
func family(t *testing.T, script string) (f *procgroup.Family, head, printed int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	f, err = procgroup.StartFamily(cmd)
	require.NoError(t, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	printed, err = strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	return f, cmd.Process.Pid, printed
}

// A process that leaves session, group, parent and environment is a member if it was seen before.
func TestAMemberThatWasSeenIsRemembered(t *testing.T) {
	t.Parallel()
	f, head, hidden := family(t, `env -i setsid sh -c 'echo $$; exec sleep 1000' & wait`)
	f.Look()
	require.NoError(t, syscall.Kill(head, syscall.SIGKILL))
	f.Await()
	require.NoError(t, syscall.Kill(hidden, 0), "it lives on")
	require.Empty(t, f.Kill())
	f.Wait()
	require.Eventually(t, func() bool { return syscall.Kill(hidden, 0) == syscall.ESRCH }, 30*time.Second, time.Millisecond)
	require.Empty(t, f.Kill())
	f.Terminate() // the id of the head may be that of another process now
}

// The mark of a family is its own: a family in a family ends without the other one, and with it.
func TestAFamilyEndsAlone(t *testing.T) {
	t.Parallel()
	one, _, first := family(t, `sleep 1000 & echo $!; wait`)
	two, _, second := family(t, `sleep 1000 & echo $!; wait`)
	require.Empty(t, one.Kill())
	one.Await()
	one.Wait()
	require.ErrorIs(t, awaitGone(first), syscall.ESRCH)
	require.NoError(t, syscall.Kill(second, 0))
	require.Empty(t, two.Kill())
	two.Await()
	two.Wait()
}

// awaitGone waits a while for the end of a process, and returns the error of a signal to it.
func awaitGone(pid int) (err error) {
	late := time.After(30 * time.Second)
	for {
		if err = syscall.Kill(pid, 0); err != nil {
			return err
		}
		select {
		case <-late:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}
