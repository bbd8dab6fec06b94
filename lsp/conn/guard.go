package conn

import (
	"bytes"
	"encoding/json"

	"go.lsp.dev/jsonrpc2"
)

// verdict is the decision about one message body.
type verdict struct {
	pass  []byte // pass this to the JSON-RPC connection
	call  bool   // pass is a request and will be answered
	reply []byte // answer with this instead
	log   string // the problem

	id      jsonrpc2.ID // of a request that is passed
	method  string      // of a request or notification that is passed
	lane    lane
	cancels jsonrpc2.ID // the request that it cancels; not valid if there is none
}

// judge decides about a message before the JSON-RPC connection gets it, which closes itself if it
// cannot decode one. Requests that cannot be passed are answered. An unusable answer to one of the
// server's requests becomes an error answer, so that the caller does not wait forever.
func judge(body []byte) verdict {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if !json.Valid(body) {
		return refuse(jsonrpc2.ID{}, jsonrpc2.ParseError, "The message is not valid JSON.")
	}
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); trimmed[0] == '[' {
		return refuse(jsonrpc2.ID{}, jsonrpc2.InvalidRequest, "Batches are not part of the Language Server Protocol.")
	}
	msg, err := jsonrpc2.DecodeMessage(body)
	if err != nil {
		return judgeBroken(body)
	}
	switch m := msg.(type) {
	case *jsonrpc2.Call:
		return verdict{pass: body, call: true, id: m.ID(), method: m.Method(), lane: laneOf(m.Method(), m.Params(), true)}
	case *jsonrpc2.Notification:
		return verdict{
			pass: body, method: m.Method(), lane: laneOf(m.Method(), m.Params(), false), cancels: cancelledID(m.Method(), m.Params()),
		}
	case *jsonrpc2.Response:
		if !m.ID().IsValid() {
			return verdict{log: "an answer without an id"}
		}
	}
	return verdict{pass: body, lane: quiet}
}

// judgeBroken handles valid JSON that is not a JSON-RPC message.
func judgeBroken(body []byte) verdict {
	var envelope struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &envelope) != nil {
		return refuse(jsonrpc2.ID{}, jsonrpc2.InvalidRequest, "The message is not a JSON-RPC message.")
	}
	id := ParseID(envelope.ID)
	if envelope.Method == nil && (envelope.Result != nil || envelope.Error != nil) {
		if !id.IsValid() {
			return verdict{log: "a malformed answer without a usable id"}
		}
		err := jsonrpc2.NewError(jsonrpc2.InvalidRequest, "The client's answer is not a JSON-RPC response.")
		return verdict{pass: jsonrpc2.AppendResponse(nil, id, nil, err), log: "a malformed answer", lane: quiet}
	}
	return refuse(id, jsonrpc2.InvalidRequest, "The message is not a JSON-RPC 2.0 request.")
}

// refuse returns a verdict that answers with an error. The id is null if it could not be read.
func refuse(id jsonrpc2.ID, code jsonrpc2.Code, sentence string) verdict {
	return verdict{reply: jsonrpc2.AppendResponse(nil, id, nil, ProtocolError(code, sentence)), log: sentence}
}

// ParseID decodes a JSON-RPC id, an integer or a string. It returns the invalid zero ID for anything
// else.
func ParseID(raw json.RawMessage) jsonrpc2.ID {
	var n int64
	if len(raw) > 0 && raw[0] != 'n' && json.Unmarshal(raw, &n) == nil {
		return jsonrpc2.NewNumberID(n)
	}
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return jsonrpc2.NewStringID(s)
	}
	return jsonrpc2.ID{}
}
