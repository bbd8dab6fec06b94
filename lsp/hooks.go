package lsp

import (
	"context"
	"errors"

	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
)

// clientHooks lets the client refuse a change of session. It exists only for
// clients that opted in with ui.hooks; like every question to the client it must
// not be asked on the goroutine that reads. While the backend opens the client
// cannot be asked, and nothing is refused.
type clientHooks struct{ s *server }

var _ hook.Hook = clientHooks{}

// Before asks the client. A client that does not know the request, or answers
// null, refuses nothing.
func (h clientHooks) Before(ctx context.Context, e hook.Event) (cancel bool, err error) {
	var method string
	var params any
	switch e.Name {
	case hook.BeforeSwitch:
		method, params = MethodBeforeSwitch, BeforeSwitchParams{Cwd: e.Cwd, Reason: e.Reason, TargetSessionFile: e.TargetSessionFile}
	case hook.BeforeFork:
		method, params = MethodBeforeFork, BeforeForkParams{Cwd: e.Cwd, EntryID: e.EntryID}
	default:
		return false, nil
	}
	raw, err := encodeJSON(params)
	if err != nil {
		return false, err
	}
	var result *BeforeResult
	err = h.s.ask(ctx, method, raw, &result)
	var wire *jsonrpc2.Error
	switch {
	case errors.Is(err, errNotRunning), errors.As(err, &wire) && wire.Code == jsonrpc2.MethodNotFound:
		return false, nil
	case err != nil:
		return false, err
	}
	return result != nil && result.Cancel, nil
}

// After does nothing: xcsh/sessionChanged tells the client.
func (clientHooks) After(context.Context, hook.Event) {}
