package lsp_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// A log at its default level can be shared: it never contains prompts or open texts.
func TestLogsHoldNoContents(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	f := newFixture(t)
	f.options.Log = zap.New(core)
	ed := f.start(t)
	ed.Open("/w/a", "a secret")
	ed.ChangeWith("/w/a", 0, lsptest.Fields{"text": "a secret"})
	ed.Notify("textDocument/didChange", rawJSON(`{"textDocument":{"uri":"file:///w/a"},"contentChanges":"a secret"}`))
	for _, params := range []string{
		`{"command":"test.echo","arguments":[{"text":"a secret"}]}`,
		`{"command":"test.echo","arguments":"a secret"}`,
		`{"command":"test.echo","arguments":[{"a secret":1}]}`,
		`{"command":"a secret"}`,
		`"a secret"`,
	} {
		_, _ = ed.Call("workspace/executeCommand", rawJSON(params))
	}
	ed.Send(`a secret`)
	ed.Send(`{"a secret":1}`)
	ed.Shutdown()
	ed.Exit()
	require.NotZero(t, logs.Len())
	for _, e := range logs.All() {
		require.NotContains(t, fmt.Sprint(e.Message, e.ContextMap()), "secret")
	}
}
