package sessiontest

import (
	"bufio"
	"io"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Together starts processes that write a line when they are ready and continue when their input
// ends, releases all of them at once, and waits for their success.
func Together(t testing.TB, processes ...*exec.Cmd) {
	t.Helper()
	gates := make([]io.Closer, len(processes))
	for i, p := range processes {
		in, err := p.StdinPipe()
		require.NoError(t, err)
		out, err := p.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, p.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		gates[i] = in
	}
	for _, gate := range gates {
		require.NoError(t, gate.Close())
	}
	for _, p := range processes {
		require.NoError(t, p.Wait())
	}
}
