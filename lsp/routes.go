package lsp

import (
	"context"
	"encoding/json"
	"maps"

	"go.lsp.dev/protocol"
)

// route is what becomes of one method. A method is a request or a notification,
// never both: a request method sent as a notification is ignored, the other way
// round it is refused.
type route struct {
	call   func(ctx context.Context, params json.RawMessage) (any, error)
	notify func(params json.RawMessage) error
	inline bool // call: nothing else is looked at before the answer
	always bool // notify: handled in every phase
}

// methods returns every method of the protocol the server handles, standard and
// own. Methods of our own are rows like all others.
func (s *server) methods() map[string]route {
	routes := map[string]route{
		protocol.MethodInitialize: {call: s.initialize, inline: true},
		protocol.MethodShutdown:   {call: nilCall},
		protocol.MethodExit:       {notify: s.exitNow, always: true},

		protocol.MethodInitialized:   {notify: ignore}, // see start
		protocol.MethodSetTrace:      {notify: ignore},
		protocol.MethodCancelRequest: {notify: s.cancelRequest, always: true},

		protocol.MethodTextDocumentDidOpen:   notify(s.documentOpened),
		protocol.MethodTextDocumentDidChange: notify(s.documentChanged),
		protocol.MethodTextDocumentDidClose:  notify(s.documentClosed),
		protocol.MethodTextDocumentDidSave:   notify(s.documentSaved),

		protocol.MethodWorkspaceDidChangeWorkspaceFolders: {notify: s.didChangeFolders},
		protocol.MethodWorkspaceDidChangeConfiguration:    {notify: s.didChangeConfiguration},
		protocol.MethodWorkspaceDidChangeWatchedFiles:     {notify: ignore},
		protocol.MethodWindowWorkDoneProgressCancel:       {notify: s.progressCancel, always: true},

		protocol.MethodWorkspaceExecuteCommand: {call: s.executeCommand},

		protocol.MethodTextDocumentCodeAction:       {call: s.codeActions},
		protocol.MethodTextDocumentHover:            {call: s.hover},
		protocol.MethodWorkspaceTextDocumentContent: {call: s.textDocumentContent},

		protocol.MethodTextDocumentDocumentSymbol: aboutSession(s, protocol.MethodTextDocumentDocumentSymbol, s.documentSymbols),
		protocol.MethodTextDocumentFoldingRange:   aboutSession(s, protocol.MethodTextDocumentFoldingRange, s.foldingRanges),
		protocol.MethodTextDocumentDocumentLink:   aboutSession(s, protocol.MethodTextDocumentDocumentLink, s.documentLinks),
		protocol.MethodTextDocumentCodeLens:       aboutSession(s, protocol.MethodTextDocumentCodeLens, s.codeLenses),
	}
	maps.Copy(routes, s.hostedRoutes())
	return routes
}

// notify makes a route of a function over parameters of our own types.
func notify[P any](f func(p *P) error) route {
	return route{notify: func(params json.RawMessage) error {
		p := new(P)
		if err := json.Unmarshal(params, p); err != nil {
			return err
		}
		return f(p)
	}}
}

func ignore(json.RawMessage) error { return nil }

// nilCall stands for shutdown, which request handles itself.
func nilCall(context.Context, json.RawMessage) (any, error) { return nil, nil }

// shutdown stops the work; the client then sends exit.
func (s *server) shutdown() error {
	s.stop()
	s.outbox.flush(context.Background())
	return nil
}

// exitNow makes Serve return. It must not close the connection itself: that waits
// for this very handler.
func (s *server) exitNow(json.RawMessage) error {
	s.exitOnce.Do(func() { close(s.exit) })
	return nil
}

// cancelRequest cancels a request. An id that is malformed or names nothing is
// not an error: the answer and the cancellation may have crossed.
func (s *server) cancelRequest(params json.RawMessage) error {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	if id := parseID(p.ID); id.IsValid() {
		s.calls.cancel(id)
	}
	return nil
}
