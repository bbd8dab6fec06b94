//go:build unix

package procgroup_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

// A child that outlives the program is ended with it, and can clean up on SIGTERM.
func TestTheWholeGroupEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(*procgroup.Group)
		last string
	}{
		"terminated": {(*procgroup.Group).Terminate, "cleaned up\n"},
		"killed":     {(*procgroup.Group).Kill, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A builtin that waits would miss a signal that comes right before it does.
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `(trap 'echo cleaned up; exit' TERM; echo ready; while :; do sleep 1; done) & wait`)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			group, err := procgroup.Start(cmd)
			require.NoError(t, err)
			ready := make([]byte, len("ready\n"))
			_, err = io.ReadFull(out, ready)
			require.NoError(t, err)
			tc.end(group)
			// The output ends when no process holds it any more.
			rest, err := io.ReadAll(out)
			require.NoError(t, err)
			require.Equal(t, tc.last, string(rest))
			require.Error(t, cmd.Wait())
			tc.end(group) // no process is left
		})
	}
}

// signalled is an output that reports its first byte. It doesn't embed the buffer, whose ReadFrom would replace Write.
type signalled struct {
	kept  bytes.Buffer
	first func()
}

func (s *signalled) Write(b []byte) (int, error) {
	s.first()
	return s.kept.Write(b)
}

// The end of a context ends the processes that a command started, which hold its output.
func TestRunEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := exec.CommandContext(ctx, "sh", "-c", `(trap '' TERM; echo ready; while :; do sleep 1; done) & wait`)
	out := &signalled{first: cancel}
	cmd.Stdout = out // no file, so that Run waits until no process holds it any more
	require.Error(t, procgroup.Run(cmd))
	require.Equal(t, "ready\n", out.kept.String())
}

func TestRunReturnsTheResultOfTheProgram(t *testing.T) {
	t.Parallel()
	require.NoError(t, procgroup.Run(exec.CommandContext(t.Context(), "true")))
	var exit *exec.ExitError
	require.ErrorAs(t, procgroup.Run(exec.CommandContext(t.Context(), "sh", "-c", "exit 3")), &exit)
	require.Equal(t, 3, exit.ExitCode())
	require.ErrorIs(t, procgroup.Run(exec.CommandContext(t.Context(), "/no/such/program")), fs.ErrNotExist)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, procgroup.Run(exec.CommandContext(ended, "true")), context.Canceled)
}
