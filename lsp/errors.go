package lsp

import (
	"context"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// methodError returns the error of a request whose method is unknown, or known as a notification.
func methodError(method string, known bool) error {
	if known {
		return conn.ProtocolError(jsonrpc2.InvalidRequest, fmt.Sprintf("%s is a notification and has no id.", method))
	}
	return conn.ProtocolError(jsonrpc2.MethodNotFound, fmt.Sprintf("The method %q is not supported.", conn.Printable(method)))
}

func busyError(limit int) error {
	return fault.New(fault.Busy, "The server is already handling %d requests; try again when one has been answered.", limit)
}

func panicError(what string) error {
	return fault.New(fault.Internal, "The server failed in %s; see its log for details.", what)
}

// cancelled turns the error of a cancelled request into a Cancelled error, whatever the work
// returned when its context ended. It keeps a fault with a kind of its own.
func (s *server) cancelled(c *conn.Call, method string, err error) error {
	if err == nil || fault.KindOf(err) != fault.Internal || !errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(context.Cause(c.Context()), conn.ErrStopping) {
		return fault.New(fault.Cancelled, "%s was cancelled because the server is stopping.", method)
	}
	return fault.New(fault.Cancelled, "%s was cancelled.", method)
}
