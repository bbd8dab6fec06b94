package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"time"
)

// Options of a connection. All are required.
type Options struct {
	// Put queues a message for the other side. It does not block.
	Put func(m Outgoing)

	// Limit is the time for the answer to a request of a method; 0 means no limit.
	Limit func(method string) time.Duration

	Silent error // of a request that was not answered in time
	Gone   error // of a request when no more answers will arrive
}

// Conn sends requests and matches the responses to them. It is safe for concurrent use.
type Conn struct {
	o    Options
	gone chan struct{} // closed by Close

	mu      sync.Mutex
	last    int64 // id; guarded by mu
	waiting map[string]chan Envelope
}

// NewConn returns a connection.
func NewConn(o Options) *Conn {
	return &Conn{o: o, gone: make(chan struct{}), waiting: map[string]chan Envelope{}}
}

// Close ends all requests, because no more answers will arrive. It must be called once.
func (c *Conn) Close() { close(c.gone) }

// Call sends a request and waits for the response, which it decodes into result. An error response is returned as an
// *Error. If ctx ends, Call cancels the request. It also cancels it after the limit of the method and then
// returns the error for silence.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if limit := c.o.Limit(method); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, c.o.Silent)
		defer cancel()
	}
	id, answer := c.Send(method, params)
	select {
	case m := <-answer:
		if m.Error != nil {
			return m.Error
		}
		return json.Unmarshal(m.Result, result)
	case <-c.gone:
		return c.o.Gone
	case <-ctx.Done():
	}
	c.Forget(id)
	c.o.Put(Notification(MethodCancelCall, map[string]json.RawMessage{"requestId": json.RawMessage(id)}))
	if errors.Is(context.Cause(ctx), c.o.Silent) {
		return c.o.Silent
	}
	return ctx.Err()
}

// Send sends a request and returns its id, and the channel of its response, which has room for it.
func (c *Conn) Send(method string, params any) (id string, answer <-chan Envelope) {
	ch := make(chan Envelope, 1)
	c.mu.Lock()
	c.last++
	id = strconv.FormatInt(c.last, 10)
	c.waiting[id] = ch
	c.mu.Unlock()
	c.o.Put(Outgoing{JSONRPC: "2.0", ID: json.RawMessage(id), Method: method, Params: params})
	return id, ch
}

// Forget drops the response to a request.
func (c *Conn) Forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// Answered delivers a response to its request. It returns false if there is none, because the request was
// cancelled or never sent.
func (c *Conn) Answered(m Envelope) bool {
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
