package conn

import (
	"bytes"
	"encoding/json"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// lane says which messages of the client may overtake others.
type lane int

const (
	inOrder lane = iota // overtakes nothing
	stops               // stops something and is answered
	quiet               // stops something or answers a request of the server, and is not answered
	again               // like quiet, and taken a second time in order, to stop the messages sent before it
)

// AbortCommand is the command that stops the running turn of a folder.
const AbortCommand = "xcsh.abort"

// abortNotification does the same.
const abortNotification = "xcsh/abort"

// laneOf returns the lane of a request or a notification.
func laneOf(method string, params []byte, call bool) lane {
	switch {
	case call && method == protocol.MethodShutdown, call && IsAbort(method, params):
		return stops
	case call:
		return inOrder
	}
	switch method {
	case protocol.MethodExit, protocol.MethodCancelRequest, protocol.MethodWindowWorkDoneProgressCancel:
		return quiet
	case abortNotification:
		return again
	}
	return inOrder
}

// IsAbort reports whether a request runs [AbortCommand].
func IsAbort(method string, params []byte) bool {
	if method != protocol.MethodWorkspaceExecuteCommand || !bytes.Contains(params, []byte(AbortCommand)) {
		return false
	}
	var p struct {
		Command string `json:"command"`
	}
	return json.Unmarshal(params, &p) == nil && p.Command == AbortCommand
}

// cancelledID returns the id in a $/cancelRequest, which is not valid if there is none.
func cancelledID(method string, params []byte) jsonrpc2.ID {
	if method != protocol.MethodCancelRequest {
		return jsonrpc2.ID{}
	}
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	_ = json.Unmarshal(params, &p) // the handler reports the error
	return ParseID(p.ID)
}
