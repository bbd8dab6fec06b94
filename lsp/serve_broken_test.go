package lsp_test

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// breakingWriter fails once it is broken.
type breakingWriter struct {
	io.WriteCloser
	broken atomic.Bool
}

var errBroken = errors.New("the pipe is broken")

func (w *breakingWriter) Write(b []byte) (int, error) {
	if w.broken.Load() {
		return 0, errBroken
	}
	return w.WriteCloser.Write(b)
}

// A write error ends the connection too, which must not hide the reason.
func TestABrokenOutputIsTheReasonForTheEnd(t *testing.T) {
	t.Parallel()
	for range 50 {
		f := newFixture(t)
		f.options.Log = zap.NewNop()
		pipes := lsptest.MemoryPipes(t)
		out := &breakingWriter{WriteCloser: pipes.ServerOut}
		pipes.ServerOut = out
		ed := lsptest.StartOver(t, f.options, pipes)
		ed.Initialize(nil)
		out.broken.Store(true)
		for range 100 {
			ed.BeginExec("test.echo", nil)
		}
		end := ed.Wait()
		require.Equal(t, lsp.EndOutput, end.Reason)
		require.ErrorIs(t, end.Err, errBroken)
	}
}
