package lsp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// A server that has ended leaves no goroutines behind. Not parallel: it inspects those of the whole
// process.
func TestNoGoroutineLeak(t *testing.T) {
	noLeaks := leaktest.Begin(t)
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
	noLeaks()
}
