package lsptest

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// StartProcess starts a server like an editor does: cmd is a process that speaks the protocol on its
// standard input and output. At the end of the test StartProcess closes its input and waits for the
// process. [Editor.Wait] returns an empty result; cmd.ProcessState has the exit status.
func StartProcess(t testing.TB, cmd *exec.Cmd) *Editor {
	t.Helper()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ed := &Editor{
		t: t, toSrv: in, stop: func() { _ = cmd.Process.Kill() },
		done:    make(chan struct{}),
		changed: make(chan struct{}),
		taken:   make(map[*Message]bool),
		last:    lsp.Result{},
	}
	go func() {
		ed.read(out)
		_ = cmd.Wait() // cmd.ProcessState has the exit status
		close(ed.done)
	}()
	t.Cleanup(func() {
		ed.Resume()
		_ = ed.toSrv.Close()
		ed.Wait()
	})
	return ed
}
