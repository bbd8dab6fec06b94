package conn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// codeRequestFailed is LSP's RequestFailed: the request was valid, but it failed. The protocol
// package has no name for it.
const codeRequestFailed jsonrpc2.Code = -32803

// codes maps the kinds that have a code of their own. Every other kind is RequestFailed; clients
// distinguish them by data.kind.
var codes = map[fault.Kind]jsonrpc2.Code{
	fault.InvalidArgument: jsonrpc2.InvalidParams,
	fault.Cancelled:       protocol.CodeRequestCancelled,
	fault.Stale:           protocol.CodeContentModified,
	fault.Internal:        jsonrpc2.InternalError,
}

// protocolKinds maps the codes of errors about the protocol itself, which no command can cause.
var protocolKinds = map[jsonrpc2.Code]fault.Kind{
	jsonrpc2.ParseError:           "parseError",
	jsonrpc2.InvalidRequest:       "invalidRequest",
	jsonrpc2.MethodNotFound:       "methodNotFound",
	jsonrpc2.ServerNotInitialized: "notInitialized",
	jsonrpc2.InvalidParams:        fault.InvalidArgument,
}

// WireError returns the form in which an error is sent to the client: one sentence, a code and
// {"kind": ..., ...} as data.
func WireError(err error) *jsonrpc2.Error {
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

// ProtocolError returns an error about the protocol itself.
func ProtocolError(code jsonrpc2.Code, sentence string) *jsonrpc2.Error {
	return newWireError(code, protocolKinds[code], sentence, nil)
}

func newWireError(code jsonrpc2.Code, kind fault.Kind, sentence string, data map[string]any) *jsonrpc2.Error {
	sentence = visible.Text(strings.TrimSpace(sentence))
	if sentence == "" {
		sentence = "The request failed."
	}
	if data == nil {
		data = map[string]any{}
	}
	data["kind"] = kind
	raw, err := EncodeJSON(data)
	if err != nil { // a value has no JSON form; send the kind, which matters most
		raw, _ = EncodeJSON(map[string]fault.Kind{"kind": kind})
	}
	return &jsonrpc2.Error{Code: code, Message: sentence, Data: jsonrpc2.RawMessage(raw)}
}

// ParamsError returns the error of a request whose parameters could not be decoded. The cause is
// for the log: it may quote the client's message.
func ParamsError(method, field string, cause error) error {
	return (&fault.Error{
		Kind:    fault.InvalidArgument,
		Message: fmt.Sprintf("%s: the parameter %q has the wrong type.", method, field),
		Err:     cause,
	}).With("field", field)
}

// Printable shortens a name that the client chose and escapes invisible characters in it.
func Printable(s string) string {
	if len(s) > 80 {
		s = strings.ToValidUTF8(s[:80], "?")
	}
	return visible.Line(s)
}
