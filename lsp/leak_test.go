package lsp_test

import (
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/lsp/lsptest"
)

// A server that ended leaves no goroutine behind. Not parallel: it counts those of
// the whole process.
func TestNoGoroutineLeak(t *testing.T) {
	before := runtime.NumGoroutine()
	for name, end := range map[string]func(*lsptest.Editor){
		"exit":    func(ed *lsptest.Editor) { ed.Shutdown(); ed.Exit() },
		"input":   (*lsptest.Editor).CloseInput,
		"framing": func(ed *lsptest.Editor) { ed.Raw([]byte("x\r\n\r\n")) },
		"context": (*lsptest.Editor).Interrupt,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.options.ParentPoll = time.Millisecond
			f.options.Alive = func(int) bool { return true }
			ed := lsptest.StartOver(t, f.options, lsptest.OSPipes(t))
			ed.Initialize(lsptest.Fields{"processId": 1, "rootUri": "file:///w"})
			ed.Notify("workspace/didChangeWorkspaceFolders", rawJSON(`{"event":{"removed":[{"uri":"file:///w"}],"added":[]}}`))
			exec := execWithToken(ed, "test.progress", 1)
			receive(t, f.running)
			exec.Cancel()
			_, err := exec.Wait()
			require.NotNil(t, err)
			ed.BeginExec("test.wait", nil)
			receive(t, f.running)
			end(ed)
			ed.Wait()
		})
	}
	// Eventually itself takes one.
	if !assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, 20*time.Second, time.Millisecond) {
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
	}
}
