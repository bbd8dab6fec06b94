package conn

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// codec encodes parameters and results. Only the protocol package can encode its own types, because
// their unions and optional fields mean nothing to encoding/json. Values that are JSON already are
// sent unchanged. They hold bytes of sessions, in which lone surrogates, repeated keys and long
// numbers are no reason to fail an answer.
type codec struct{}

var _ jsonrpc2.Codec = codec{}

// Marshal implements [jsonrpc2.Codec].
func (codec) Marshal(v any) ([]byte, error) {
	switch v := v.(type) {
	case json.RawMessage:
		return rawOrNull(v), nil
	case jsonrpc2.RawMessage:
		return rawOrNull(v), nil
	case jsontext.Value:
		return rawOrNull(v), nil
	}
	return protocol.Marshal(v)
}

// Unmarshal implements [jsonrpc2.Codec].
func (codec) Unmarshal(data []byte, v any) error {
	switch v := v.(type) {
	case *json.RawMessage:
		*v = bytes.Clone(data)
		return nil
	case *jsonrpc2.RawMessage:
		*v = bytes.Clone(data)
		return nil
	case *jsontext.Value:
		*v = bytes.Clone(data)
		return nil
	}
	return protocol.Unmarshal(data, v)
}

func rawOrNull(raw []byte) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}

// EncodeJSON encodes a value that has no type of the protocol package in it. Unlike json.Marshal it
// does not escape <, > and &, and it replaces invalid UTF-8 inside a [json.RawMessage] by U+FFFD:
// the protocol is UTF-8, and a client that checks would drop the whole message. A value with a method
// AppendJSON, which must append valid JSON in UTF-8, encodes itself.
func EncodeJSON(v any) (json.RawMessage, error) {
	if a, ok := v.(interface {
		AppendJSON(dst []byte) ([]byte, error)
	}); ok {
		return a.AppendJSON(nil)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return raw, nil
}
