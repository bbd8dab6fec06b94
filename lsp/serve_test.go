package lsp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

func TestCommandRoundTrip(t *testing.T) {
	t.Parallel()
	ed := newFixture(t).start(t)

	res, err := ed.Exec("test.echo", lsptest.Fields{"text": "hello"})
	require.Nil(t, err)
	require.JSONEq(t, `{"text":"hello"}`, string(res))

	ed.Shutdown()
	require.Equal(t, lsp.Result{Reason: lsp.EndExit, Shutdown: true}, ed.Exit())
}

func TestInitializeResult(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := lsptest.Start(t, f.options)
	res := ed.Initialize(nil)

	names, err := json.Marshal(f.options.Commands.Names())
	require.NoError(t, err)
	require.JSONEq(t, `{
		"serverInfo": {"name": "xcsh-ls", "version": "1.2.3"},
		"capabilities": {
			"positionEncoding": "utf-16",
			"textDocumentSync": {"openClose": true, "change": 2, "save": true},
			"executeCommandProvider": {"workDoneProgress": true, "commands": `+string(names)+`},
			"codeActionProvider": {"codeActionKinds": ["refactor", "quickfix"]},
			"codeLensProvider": {}, "documentLinkProvider": {}, "completionProvider": {"triggerCharacters": ["/"]},
			"documentSymbolProvider": true, "foldingRangeProvider": true, "hoverProvider": true,
			"workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}},
			"experimental": {"xcsh": {"wireVersion": 1, "commands": ["the manifest"]}}
		}
	}`, string(res))
}
