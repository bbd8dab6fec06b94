package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// The error codes of JSON-RPC and of the protocol.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeCancelled      = -32800
	codeAuthRequired   = -32000
	codeNotFound       = -32002
)

// codes maps the kinds that have a code of their own. Every other kind is codeInternal;
// clients tell them apart by data.kind.
var codes = map[fault.Kind]int{
	fault.InvalidArgument: codeInvalidParams,
	fault.OtherProject:    codeInvalidParams,
	fault.Cancelled:       codeCancelled,
	fault.NotFound:        codeNotFound,
}

// wireError is an error as it goes over the wire, in either direction.
type wireError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *wireError) Error() string { return e.Message }

// refusal is an error about the protocol itself.
func refusal(code int, kind, format string, args ...any) *wireError {
	return &wireError{Code: code, Message: fmt.Sprintf(format, args...), Data: dataOf(fault.Kind(kind), nil)}
}

// toWire is the only way an error reaches the client.
func toWire(err error) *wireError {
	if e, ok := errors.AsType[*wireError](err); ok {
		return e
	}
	kind, data := fault.KindOf(err), map[string]any(nil)
	if f, ok := errors.AsType[*fault.Error](err); ok {
		data = f.Data
	} else if errors.Is(err, context.Canceled) {
		kind = fault.Cancelled
	}
	code, ok := codes[kind]
	switch {
	case keyMissing(err):
		code = codeAuthRequired
	case !ok:
		code = codeInternal
	}
	sentence := strings.TrimSpace(strings.ToValidUTF8(err.Error(), "\uFFFD"))
	if sentence == "" {
		sentence = "The request failed."
	}
	return &wireError{Code: code, Message: sentence, Data: dataOf(kind, data)}
}

// dataOf is {"kind": …} and what else is known of an error.
func dataOf(kind fault.Kind, more map[string]any) json.RawMessage {
	data := map[string]any{}
	maps.Copy(data, more)
	data["kind"] = kind
	raw, err := json.Marshal(data)
	if err != nil { // a value that has no JSON form; the kind is what matters
		raw, _ = json.Marshal(map[string]any{"kind": kind})
	}
	return raw
}

// keyMissing reports whether err is that a service wants a key that it was not given, or
// another one.
func keyMissing(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Provider {
		return false
	}
	_, noKey := f.Data["provider"] // only the catalogue names one, when it has no key for it
	return noKey || f.Data["class"] == string(provider.Auth)
}

// decodeParams reads the parameters of a request. One of the wrong type is kind
// invalidArgument and named.
func decodeParams[P any](method string, raw json.RawMessage) (P, error) {
	var p P
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	err := json.Unmarshal(raw, &p)
	if err == nil && raw[0] != '{' {
		err = errors.New("no object")
	}
	if err == nil {
		return p, nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return p, (&fault.Error{
			Kind: fault.InvalidArgument, Message: fmt.Sprintf("%s: the parameter %q has the wrong type.", method, wrong.Field), Err: err,
		}).With("field", wrong.Field)
	}
	return p, fault.New(fault.InvalidArgument, "%s takes an object.", method)
}
