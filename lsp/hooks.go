package lsp

import (
	"context"
	"errors"

	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// clientHooks lets the client cancel a change of session, a move of its leaf, and a compaction. It
// exists only for clients that opted in with ui.hooks. Before must not be called on the goroutine
// that reads. While the backend opens, the client cannot be asked and nothing is cancelled.
type clientHooks struct{ s *server }

var _ hook.Hook = clientHooks{}

// Before asks the client. A client that does not support the request, or answers null, cancels
// nothing. If the client does not answer in time, the change is cancelled.
func (h clientHooks) Before(ctx context.Context, e hook.Event) (hook.Decision, error) {
	method, params := beforeRequest(e)
	if method == "" {
		return hook.Decision{}, nil
	}
	raw, err := conn.EncodeJSON(params)
	if err != nil {
		return hook.Decision{}, err
	}
	var result *BeforeResult
	err = h.s.ask(ctx, method, raw, &result)
	var wire *jsonrpc2.Error
	switch {
	case errors.Is(err, errNotRunning), errors.As(err, &wire) && wire.Code == jsonrpc2.MethodNotFound:
		return hook.Decision{}, nil
	case errors.Is(err, errUnanswered): // it may have asked the user, who has not agreed
		return hook.Decision{Cancel: true}, nil
	case err != nil:
		return hook.Decision{}, err
	}
	return hook.Decision{Cancel: result != nil && result.Cancel}, nil
}

// beforeRequest returns the request for an event. The method is "" if the client is not asked about
// it.
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

// entryOrNull returns an entry's id for the wire. "", before the first entry, is null.
func entryOrNull(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

// After does nothing: the client gets xcsh/sessionChanged.
func (clientHooks) After(context.Context, hook.Event) {}
