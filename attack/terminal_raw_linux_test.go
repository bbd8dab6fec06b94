package attack

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A terminal never gets raw text, even if the user requests it.
func TestTerminalsGetNothingRaw(t *testing.T) {
	v := newVictim(t)
	v.Script("m", providertest.Reply{Text: steering, Chunk: 1})
	path := v.hostileSession()
	for _, args := range [][]string{{"dump", "--raw", path}, {"run", "--model", "fake/m", "--raw", "go"}} {
		code, shown, errs := v.inTerminal(args...)
		require.Equal(t, 2, code)
		require.Empty(t, shown)
		require.Contains(t, errs, "--raw")
	}
	require.Empty(t, v.Requests(), "nothing was asked")
	code, shown, errs := v.inTerminal("run", "--model", "fake/m", "go")
	require.Zero(t, code, errs)
	requireSteersNothing(t, "run", shown)
	require.Contains(t, shown, `\u001b]52`)
}

// inTerminal runs the program with a terminal as standard output and returns the output.
func (v *victim) inTerminal(args ...string) (code int, shown, errs string) {
	v.t.Helper()
	host, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		v.t.Skip("no terminals: ", err)
	}
	defer func() { _ = host.Close() }()
	fd := int(host.Fd())
	require.NoError(v.t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	require.NoError(v.t, err)
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		v.t.Skip("no terminals: ", err)
	}
	defer func() { _ = terminal.Close() }()
	var stderr, text bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = text.ReadFrom(host) // returns an error when the last descriptor of the terminal is closed
	}()
	cmd := v.command(args...)
	cmd.Stdout, cmd.Stderr = terminal, &stderr
	_ = cmd.Run() // the exit code is the result
	_ = terminal.Close()
	select { // the terminal is closed, so reading ends with an error
	case <-done:
	case <-time.After(deadline):
		v.t.Error("the terminal was not closed")
	}
	return cmd.ProcessState.ExitCode(), text.String(), stderr.String()
}
