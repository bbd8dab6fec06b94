package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"
)

// envelope is any JSON-RPC message. Absent members are nil; null is not absent.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *wireError      `json:"error,omitempty"`
}

// outgoing is a message to the client that is encoded when it is written.
type outgoing struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
	Error   *wireError      `json:"error,omitempty"`
}

func notification(method string, params any) outgoing {
	return outgoing{JSONRPC: "2.0", Method: method, Params: params}
}

// parse reads one message. Its error is sent to the client as the response to id.
func parse(line []byte) (m envelope, id json.RawMessage, err *wireError) {
	null := json.RawMessage("null")
	if !json.Valid(line) {
		return m, null, refusal(codeParse, "parseError", "The line is not JSON.")
	}
	if line[0] == '[' {
		return m, null, refusal(codeInvalidRequest, "invalidRequest", "Batches are not supported.")
	}
	var loose struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(line, &loose) != nil {
		return m, null, refusal(codeInvalidRequest, "invalidRequest", "A message must be an object.")
	}
	id = null
	if loose.ID != nil {
		if !isID(loose.ID) {
			return m, null, refusal(codeInvalidRequest, "invalidRequest", "An id must be a number or a string.")
		}
		id = loose.ID
	}
	if string(loose.Error) == "null" { // some clients write both members
		loose.Error = nil
	}
	m = envelope{ID: loose.ID, Params: loose.Params, Result: loose.Result}
	switch {
	case loose.Method != nil:
		if json.Unmarshal(loose.Method, &m.Method) != nil || m.Method == "" {
			return m, id, refusal(codeInvalidRequest, "invalidRequest", "A method must be a string.")
		}
	case loose.ID == nil || loose.Result == nil && loose.Error == nil:
		return m, id, refusal(codeInvalidRequest, "invalidRequest", "A message must have a method, or an id and a result or an error.")
	case loose.Error != nil:
		m.Error = &wireError{Code: codeInternal, Message: "The client gave no reason."}
		// Members of the wrong type are ignored.
		_ = json.Unmarshal(loose.Error, m.Error)
	}
	return m, id, nil
}

// isID reports whether v is a valid request id.
func isID(v json.RawMessage) bool {
	switch v[0] {
	case '"', '-', 'n', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return true
	}
	return false
}

// conn sends to the client and matches its responses to requests.
type conn struct {
	out  *outbox
	gone chan struct{} // closed when no more responses will arrive

	mu      sync.Mutex
	last    int64 // id; guarded by mu
	waiting map[string]chan envelope
}

func newConn(out *outbox) *conn {
	return &conn{out: out, gone: make(chan struct{}), waiting: map[string]chan envelope{}}
}

// answerTime is the time that the client has to read or write a file.
const answerTime = 30 * time.Second

// errSilent is the error of a request that the client did not answer in time.
var errSilent = errors.New("the editor did not answer in time")

var errGone = errors.New("the client disconnected")

// call sends a request to the client and waits for the response. An error response is returned as a *wireError. If
// ctx ends, call cancels the request. It also cancels it after the client's response time and then returns
// errSilent. Requests for permission have no such limit, because the user may take hours.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if method != methodPermission {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, answerTime, errSilent)
		defer cancel()
	}
	answer := make(chan envelope, 1)
	c.mu.Lock()
	c.last++
	id := strconv.FormatInt(c.last, 10)
	c.waiting[id] = answer
	c.mu.Unlock()
	c.out.put(outgoing{JSONRPC: "2.0", ID: json.RawMessage(id), Method: method, Params: params})
	select {
	case m := <-answer:
		if m.Error != nil {
			return m.Error
		}
		return json.Unmarshal(m.Result, result)
	case <-c.gone:
		return errGone
	case <-ctx.Done():
	}
	c.mu.Lock()
	delete(c.waiting, id)
	c.mu.Unlock()
	c.out.put(notification(methodCancelCall, map[string]json.RawMessage{"requestId": json.RawMessage(id)}))
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return ctx.Err()
}

// answered delivers a response of the client to its request. It returns false if there is none, because
// the request was cancelled or never sent.
func (c *conn) answered(m envelope) bool {
	id := string(bytes.TrimSpace(m.ID))
	c.mu.Lock()
	defer c.mu.Unlock()
	answer, ok := c.waiting[id]
	delete(c.waiting, id)
	if ok {
		answer <- m
	}
	return ok
}

// respond answers a request of the client and sends the updates in then directly after the response.
func (c *conn) respond(id json.RawMessage, result any, err error, then ...any) {
	if err != nil {
		c.out.put(outgoing{JSONRPC: "2.0", ID: id, Error: toWire(err)})
		return
	}
	c.out.put(append([]any{outgoing{JSONRPC: "2.0", ID: id, Result: result}}, then...)...)
}

// update sends an update of a session.
func (c *conn) update(sessionID string, update any) { c.out.put(updateOf(sessionID, update)) }

func updateOf(sessionID string, update any) outgoing {
	return notification(methodUpdate, updateParams{sessionID, update})
}
