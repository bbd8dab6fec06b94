package lsp

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// route is the handler of one method. A method is a request or a notification, never both: a
// notification with the method of a request is ignored, and a request with the method of a
// notification is refused.
type route struct {
	call   func(ctx context.Context, params json.RawMessage) (any, error)
	notify func(params json.RawMessage) error
	inline bool // call: no other message is handled before the answer
	always bool // notify: handled in every phase
}

// methods returns the routes of all methods that the server handles, those of LSP and its own.
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

		MethodKeysChanged: notify(s.keysChanged),

		protocol.MethodWorkspaceExecuteCommand: {call: s.executeCommand},

		protocol.MethodTextDocumentCodeAction:       {call: s.codeActions},
		protocol.MethodTextDocumentCompletion:       {call: s.completion},
		protocol.MethodWorkspaceTextDocumentContent: {call: s.textDocumentContent},
	}
	for method, handler := range s.sessionDocs.Handlers() {
		if method == protocol.MethodTextDocumentCodeLens {
			handler = s.codeLenses(handler)
		}
		routes[method] = route{call: handler}
	}
	maps.Copy(routes, s.hostedRoutes())
	return routes
}

// notify returns the route of a notification with parameters of type P.
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

// nilCall is a placeholder for shutdown, which request handles itself.
func nilCall(context.Context, json.RawMessage) (any, error) { return nil, nil }

// shutdown stops the work; the client then sends exit.
func (s *server) shutdown() error {
	s.stop()
	s.conn.Flush(context.Background())
	return nil
}

// exitNow makes Serve return. It must not close the connection itself, which waits for this handler.
func (s *server) exitNow(json.RawMessage) error {
	s.exitOnce.Do(func() { close(s.exit) })
	return nil
}

// exiting makes Serve return even if exit is never handled, because a message before it may block
// forever, for example opening sessions on storage that does not respond.
func (s *server) exiting() {
	time.AfterFunc(s.opts.Grace, func() { _ = s.exitNow(nil) })
}

// cancelRequest cancels a request. A malformed or unknown id is not an error: the answer and the
// cancellation may have crossed.
func (s *server) cancelRequest(params json.RawMessage) error {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	if id := conn.ParseID(p.ID); id.IsValid() {
		s.calls.Cancel(id)
	}
	return nil
}
