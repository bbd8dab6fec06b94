package lsp

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// codeRequestFailed is LSP's RequestFailed: the request was understood, what it
// asked for did not work. The protocol package has no name for it.
const codeRequestFailed jsonrpc2.Code = -32803

// codes maps the kinds that have a code of their own. Every other kind is
// RequestFailed; clients tell them apart by data.kind.
var codes = map[fault.Kind]jsonrpc2.Code{
	fault.InvalidArgument: jsonrpc2.InvalidParams,
	fault.Cancelled:       protocol.CodeRequestCancelled,
	fault.Stale:           protocol.CodeContentModified,
	fault.Internal:        jsonrpc2.InternalError,
}

// The kinds of errors about the protocol itself, which no command can cause.
var protocolKinds = map[jsonrpc2.Code]fault.Kind{
	jsonrpc2.ParseError:           "parseError",
	jsonrpc2.InvalidRequest:       "invalidRequest",
	jsonrpc2.MethodNotFound:       "methodNotFound",
	jsonrpc2.ServerNotInitialized: "notInitialized",
	jsonrpc2.InvalidParams:        fault.InvalidArgument,
}

// wireError is the only way an error reaches the client: one sentence, a code and
// {"kind": ..., ...} as data.
func wireError(err error) *jsonrpc2.Error {
	if e, ok := errors.AsType[*jsonrpc2.Error](err); ok {
		return e
	}
	kind, data := fault.KindOf(err), map[string]any{}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		maps.Copy(data, f.Data)
	} else if errors.Is(err, context.Canceled) {
		kind = fault.Cancelled
	}
	code, ok := codes[kind]
	if !ok {
		code = codeRequestFailed
	}
	return newWireError(code, kind, err.Error(), data)
}

// protocolError is an error about the protocol itself.
func protocolError(code jsonrpc2.Code, sentence string) *jsonrpc2.Error {
	return newWireError(code, protocolKinds[code], sentence, nil)
}

func newWireError(code jsonrpc2.Code, kind fault.Kind, sentence string, data map[string]any) *jsonrpc2.Error {
	sentence = strings.TrimSpace(strings.ToValidUTF8(sentence, "\uFFFD"))
	if sentence == "" {
		sentence = "The request failed."
	}
	if data == nil {
		data = map[string]any{}
	}
	data["kind"] = kind
	raw, err := encodeJSON(data)
	if err != nil { // a value that has no JSON form; the kind is what matters
		raw, _ = encodeJSON(map[string]fault.Kind{"kind": kind})
	}
	return &jsonrpc2.Error{Code: code, Message: sentence, Data: jsonrpc2.RawMessage(raw)}
}

// methodError refuses a method that is unknown, or known as a notification.
func methodError(method string, known bool) error {
	if known {
		return protocolError(jsonrpc2.InvalidRequest, fmt.Sprintf("%s is a notification and has no id.", method))
	}
	return protocolError(jsonrpc2.MethodNotFound, fmt.Sprintf("The method %q is not supported.", printable(method)))
}

func busyError(limit int) error {
	return fault.New(fault.Busy, "The server is already handling %d requests; try again when one has been answered.", limit)
}

func panicError(what string) error {
	return fault.New(fault.Internal, "The server failed in %s; its log says how.", what)
}

// paramsError is a request whose parameters could not be decoded. The cause is
// for the log: it may quote what the client sent.
func paramsError(method, field string, cause error) error {
	return (&fault.Error{
		Kind:    fault.InvalidArgument,
		Message: fmt.Sprintf("%s: the parameter %q has the wrong type.", method, field),
		Err:     cause,
	}).With("field", field)
}

// cancelled makes the error of a request that was cancelled say so, whatever the
// work made of its ended context. A fault with a kind of its own stays.
func (s *server) cancelled(c *call, method string, err error) error {
	if err == nil || fault.KindOf(err) != fault.Internal || !errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(context.Cause(c.ctx), errStopping) {
		return fault.New(fault.Cancelled, "%s was cancelled because the server is stopping.", method)
	}
	return fault.New(fault.Cancelled, "%s was cancelled.", method)
}
