package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// The error codes of JSON-RPC and of the protocol.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeCancelled      = -32800
	CodeAuthRequired   = -32000
	CodeNotFound       = -32002
)

// Error is an error on the wire, in either direction.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Refusal returns an error of the protocol. kind is a member of its data.
func Refusal(code int, kind, format string, args ...any) *Error {
	data, _ := json.Marshal(map[string]string{"kind": kind}) // strings can always be encoded
	return &Error{Code: code, Message: visible.Text(fmt.Sprintf(format, args...)), Data: data}
}

// Envelope is any JSON-RPC message. Absent members are nil; null is not absent.
type Envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Outgoing is a message that is encoded when it is written.
type Outgoing struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// Notification returns a message without an id.
func Notification(method string, params any) Outgoing {
	return Outgoing{JSONRPC: "2.0", Method: method, Params: params}
}

// Parse reads one message. Its error can be sent as the response to id.
func Parse(line []byte) (m Envelope, id json.RawMessage, err *Error) {
	null := json.RawMessage("null")
	if !json.Valid(line) {
		return m, null, Refusal(CodeParse, "parseError", "The line is not JSON.")
	}
	if line[0] == '[' {
		return m, null, Refusal(CodeInvalidRequest, "invalidRequest", "Batches are not supported.")
	}
	var loose struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(line, &loose) != nil {
		return m, null, Refusal(CodeInvalidRequest, "invalidRequest", "A message must be an object.")
	}
	id = null
	if loose.ID != nil {
		if !IsID(loose.ID) {
			return m, null, Refusal(CodeInvalidRequest, "invalidRequest", "An id must be a number or a string.")
		}
		id = loose.ID
	}
	if string(loose.Error) == "null" { // some programs write both members
		loose.Error = nil
	}
	m = Envelope{ID: loose.ID, Params: loose.Params, Result: loose.Result}
	switch {
	case loose.Method != nil:
		if json.Unmarshal(loose.Method, &m.Method) != nil || m.Method == "" {
			return m, id, Refusal(CodeInvalidRequest, "invalidRequest", "A method must be a string.")
		}
	case loose.ID == nil || loose.Result == nil && loose.Error == nil:
		return m, id, Refusal(CodeInvalidRequest, "invalidRequest", "A message must have a method, or an id and a result or an error.")
	case loose.Error != nil:
		m.Error = &Error{Code: CodeInternal, Message: "No reason was given."}
		// Members of the wrong type are ignored.
		_ = json.Unmarshal(loose.Error, m.Error)
	}
	return m, id, nil
}

// IsID reports whether v is a valid id of a request.
func IsID(v json.RawMessage) bool {
	switch v[0] {
	case '"', '-', 'n', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return true
	}
	return false
}

// Encode encodes a message as one line. Bytes that are not valid UTF-8 are replaced, because the protocol
// is UTF-8.
func Encode(m any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, err
	}
	if utf8.Valid(b.Bytes()) {
		return b.Bytes(), nil
	}
	return bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")), nil
}
