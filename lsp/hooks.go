package lsp

import (
	"context"
	"errors"

	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
)

// clientHooks lets the client refuse a change of session, of its leaf, and a compaction. It exists only for
// clients that opted in with ui.hooks; like every question to the client it must
// not be asked on the goroutine that reads. While the backend opens the client
// cannot be asked, and nothing is refused.
type clientHooks struct{ s *server }

var _ hook.Hook = clientHooks{}

// Before asks the client. A client that does not know the request, or answers
// null, refuses nothing.
func (h clientHooks) Before(ctx context.Context, e hook.Event) (hook.Decision, error) {
	method, params := beforeRequest(e)
	if method == "" {
		return hook.Decision{}, nil
	}
	raw, err := encodeJSON(params)
	if err != nil {
		return hook.Decision{}, err
	}
	var result *BeforeResult
	err = h.s.ask(ctx, method, raw, &result)
	var wire *jsonrpc2.Error
	switch {
	case errors.Is(err, errNotRunning), errors.As(err, &wire) && wire.Code == jsonrpc2.MethodNotFound:
		return hook.Decision{}, nil
	case err != nil:
		return hook.Decision{}, err
	}
	return hook.Decision{Cancel: result != nil && result.Cancel}, nil
}

// beforeRequest is the request that asks about an event; its method is "" when a client is not
// asked about it.
func beforeRequest(e hook.Event) (method string, params any) {
	switch e.Name {
	case hook.BeforeSwitch:
		return MethodBeforeSwitch, BeforeSwitchParams{Cwd: e.Cwd, Reason: e.Reason, TargetSessionFile: e.TargetSessionFile}
	case hook.BeforeFork:
		return MethodBeforeFork, BeforeForkParams{Cwd: e.Cwd, EntryID: e.EntryID}
	case hook.BeforeTree:
		return MethodBeforeTree, BeforeTreeParams{
			Cwd: e.Cwd, EntryID: entryOrNull(e.EntryID), OldLeafID: entryOrNull(e.OldLeafID), UserWantsSummary: e.UserWantsSummary,
		}
	case hook.BeforeCompact:
		return MethodBeforeCompact, BeforeCompactParams{Cwd: e.Cwd, Reason: e.Reason, CustomInstructions: e.CustomInstructions}
	default:
		return "", nil
	}
}

// entryOrNull is an entry's id on the wire, where "" is null: before the first entry.
func entryOrNull(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

// After does nothing: xcsh/sessionChanged tells the client.
func (clientHooks) After(context.Context, hook.Event) {}
