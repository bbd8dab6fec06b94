//go:build unix

package procgroup_test

import (
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/procgroup"
)

// A child that outlives the program is ended with it, and can clean up on SIGTERM.
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
			// A builtin that waits would miss a signal that comes right before it does.
			cmd := exec.CommandContext(t.Context(), "sh", "-c", `(trap 'echo cleaned up; exit' TERM; echo ready; while :; do sleep 1; done) & wait`)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			procgroup.Own(cmd)
			require.NoError(t, cmd.Start())
			ready := make([]byte, len("ready\n"))
			_, err = io.ReadFull(out, ready)
			require.NoError(t, err)
			tc.end(cmd.Process)
			// The output ends when no process holds it any more.
			rest, err := io.ReadAll(out)
			require.NoError(t, err)
			require.Equal(t, tc.last, string(rest))
			require.Error(t, cmd.Wait())
			tc.end(cmd.Process) // no process is left
		})
	}
}
