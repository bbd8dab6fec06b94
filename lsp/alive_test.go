package lsp_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

func TestProcessAlive(t *testing.T) {
	t.Parallel()
	require.True(t, lsp.ProcessAlive(os.Getpid()))

	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	require.NoError(t, cmd.Start())
	if runtime.GOOS == "linux" {
		require.Eventually(t, func() bool { return !lsp.ProcessAlive(cmd.Process.Pid) }, 20*time.Second, time.Millisecond,
			"a process that ended counts as gone before its parent asked for it")
	}
	require.NoError(t, cmd.Wait())
	require.False(t, lsp.ProcessAlive(cmd.Process.Pid))
}
