package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// codes maps the kinds that have a code of their own. Every other kind is codeInternal; clients
// distinguish them by data.kind.
var codes = map[fault.Kind]int{
	fault.InvalidArgument: codeInvalidParams,
	fault.OtherProject:    codeInvalidParams,
	fault.Cancelled:       codeCancelled,
	fault.NotFound:        codeNotFound,
}

// toWire converts an error. No error reaches the client any other way.
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
	sentence := visible.Text(strings.TrimSpace(err.Error()))
	if sentence == "" {
		sentence = "The request failed."
	}
	return &wireError{Code: code, Message: sentence, Data: dataOf(kind, data)}
}

// dataOf returns the data of an error: {"kind": …} and its further members.
func dataOf(kind fault.Kind, more map[string]any) json.RawMessage {
	data := map[string]any{}
	maps.Copy(data, more)
	data["kind"] = kind
	raw, err := json.Marshal(data)
	if err != nil { // a value cannot be encoded as JSON; the kind is what clients need
		raw, _ = json.Marshal(map[string]any{"kind": kind})
	}
	return raw
}

// keyMissing reports whether err means that the key for a service is missing or was rejected.
func keyMissing(err error) bool {
	if _, ok := errors.AsType[loginNeeded](err); ok {
		return true
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != fault.Provider {
		return false
	}
	_, noKey := f.Data["provider"] // set only if the key for the provider is missing or was rejected
	return noKey || f.Data["class"] == string(provider.Auth) || f.Data["class"] == commands.ClassLogin
}

// decodeParams decodes the parameters of a request. A parameter of the wrong type causes an
// invalidArgument error that names it.
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
	return p, fault.New(fault.InvalidArgument, "The parameters of %s must be an object.", method)
}
