package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
)

// envelope is any message of JSON-RPC. Absent members are nil; null is not absent.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *wireError      `json:"error,omitempty"`
}

// outgoing is a message of ours whose contents are made into JSON when it is written.
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

// parse reads one message. Its error is what the sender is told, under id.
func parse(line []byte) (m envelope, id json.RawMessage, err *wireError) {
	null := json.RawMessage("null")
	if !json.Valid(line) {
		return m, null, refusal(codeParse, "parseError", "The line is not JSON.")
	}
	if line[0] == '[' {
		return m, null, refusal(codeInvalidRequest, "invalidRequest", "Batches are not part of the protocol.")
	}
	var loose struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(line, &loose) != nil {
		return m, null, refusal(codeInvalidRequest, "invalidRequest", "A message is an object.")
	}
	id = null
	if loose.ID != nil {
		if !isID(loose.ID) {
			return m, null, refusal(codeInvalidRequest, "invalidRequest", "An id is a number or a string.")
		}
		id = loose.ID
	}
	if string(loose.Error) == "null" { // some write both members
		loose.Error = nil
	}
	m = envelope{ID: loose.ID, Params: loose.Params, Result: loose.Result}
	switch {
	case loose.Method != nil:
		if json.Unmarshal(loose.Method, &m.Method) != nil || m.Method == "" {
			return m, id, refusal(codeInvalidRequest, "invalidRequest", "A method is a string.")
		}
	case loose.ID == nil || loose.Result == nil && loose.Error == nil:
		return m, id, refusal(codeInvalidRequest, "invalidRequest", "A message has a method, or an id and a result or an error.")
	case loose.Error != nil:
		m.Error = &wireError{Code: codeInternal, Message: "The client did not say why."}
		// What of it has the right type is enough.
		_ = json.Unmarshal(loose.Error, m.Error)
	}
	return m, id, nil
}

// isID reports whether v may be the id of a request.
func isID(v json.RawMessage) bool {
	switch v[0] {
	case '"', '-', 'n', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return true
	}
	return false
}

// conn sends to the client and matches its answers with what it was asked.
type conn struct {
	out  *outbox
	gone chan struct{} // closed when no answer will come any more

	mu      sync.Mutex
	last    int64 // id; guarded by mu
	waiting map[string]chan envelope
}

func newConn(out *outbox) *conn {
	return &conn{out: out, gone: make(chan struct{}), waiting: map[string]chan envelope{}}
}

var errGone = errors.New("the client is gone")

// call asks the client something and waits for the answer. An answer that is an error is a
// *wireError. The end of ctx takes the question back.
func (c *conn) call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
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
	return ctx.Err()
}

// answered hands an answer of the client to whoever waits for it. It reports false when
// nobody does, because the question was taken back or never asked.
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

// respond answers a request of the client, and tells right behind the answer what is in then.
func (c *conn) respond(id json.RawMessage, result any, err error, then ...any) {
	if err != nil {
		c.out.put(outgoing{JSONRPC: "2.0", ID: id, Error: toWire(err)})
		return
	}
	c.out.put(append([]any{outgoing{JSONRPC: "2.0", ID: id, Result: result}}, then...)...)
}

// update tells something of a session.
func (c *conn) update(sessionID string, update any) { c.out.put(updateOf(sessionID, update)) }

func updateOf(sessionID string, update any) outgoing {
	return notification(methodUpdate, updateParams{sessionID, update})
}
