package sessiondoc

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// Handler handles a request. Its result is JSON or nil, which means null.
type Handler = func(ctx context.Context, params json.RawMessage) (any, error)

// Handlers returns the handlers by method.
func (d *Docs) Handlers() map[string]Handler {
	return map[string]Handler{
		protocol.MethodTextDocumentHover:          d.hover,
		protocol.MethodTextDocumentDocumentSymbol: d.handler(protocol.MethodTextDocumentDocumentSymbol, d.symbols),
		protocol.MethodTextDocumentFoldingRange:   d.handler(protocol.MethodTextDocumentFoldingRange, d.folds),
		protocol.MethodTextDocumentDocumentLink:   d.handler(protocol.MethodTextDocumentDocumentLink, d.links),
		protocol.MethodTextDocumentCodeLens:       d.handler(protocol.MethodTextDocumentCodeLens, d.lenses),
	}
}

// params are the parameters of a request about a document.
type params struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
}

// handler returns a handler that answers with the result of f, or with null if the document is not a
// session.
func (d *Docs) handler(method string, f func(*view) any) Handler {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		var p params
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, conn.ParamsError(method, "params", err)
		}
		v, err := d.view(ctx, p.TextDocument.URI)
		if v == nil || err != nil {
			return nil, err
		}
		return conn.EncodeJSON(f(v))
	}
}
