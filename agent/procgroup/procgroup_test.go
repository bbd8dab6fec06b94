//go:build unix

package procgroup_test

import (
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/procgroup"
)

// A child that outlives the program is ended with it, and can clean up when it is told to.
func TestTheWholeGroupEnds(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(*os.Process)
		last string
	}{
		"terminated": {procgroup.Terminate, "cleaned up\n"},
		"killed":     {procgroup.Kill, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `(trap 'echo cleaned up; exit' TERM; echo ready; while :; do read -r _ <&3 || :; done 3<>"$0") & wait`, fifo(t))
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			procgroup.Own(cmd)
			require.NoError(t, cmd.Start())
			ready := make([]byte, len("ready\n"))
			_, err = io.ReadFull(out, ready)
			require.NoError(t, err)
			tc.end(cmd.Process)
			// The end of the output is that nobody is left who holds it.
			rest, err := io.ReadAll(out)
			require.NoError(t, err)
			require.Equal(t, tc.last, string(rest))
			require.Error(t, cmd.Wait())
			tc.end(cmd.Process) // nobody is left
		})
	}
}

// fifo makes a pipe that nobody writes to.
func fifo(t *testing.T) string {
	t.Helper()
	path := t.TempDir() + "/quiet"
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", path).Run())
	return path
}
