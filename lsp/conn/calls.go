package conn

import (
	"context"
	"errors"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// The causes of the cancellation of a call's context.
var (
	ErrClientCancelled = errors.New("the client cancelled the request")
	ErrStopping        = errors.New("the server is stopping")
)

// Calls are the requests being handled: those that $/cancelRequest can cancel and that a stopping
// server waits for. It is safe for concurrent use.
type Calls struct {
	limit int

	// mu guards the fields below.
	mu    sync.Mutex
	n     int // without those that stop something
	stops int // those that stop something
	byID  map[jsonrpc2.ID]map[*Call]struct{}
	empty []chan struct{} // closed when n and stops are 0
}

// Call is one request being handled.
type Call struct {
	id     jsonrpc2.ID
	ctx    context.Context //nolint:containedctx // a call is its context: it ends when the request is cancelled or answered
	cancel context.CancelCauseFunc
	stops  bool // it stops something, and is counted separately
}

// Context returns the context of the work. [CallOf] finds the call in it.
func (c *Call) Context() context.Context { return c.ctx }

// ID returns the id of the request.
func (c *Call) ID() jsonrpc2.ID { return c.id }

// Cancel cancels the work on behalf of the client.
func (c *Call) Cancel() { c.cancel(ErrClientCancelled) }

// NewCalls returns an empty set of at most limit calls.
func NewCalls(limit int) *Calls {
	return &Calls{limit: limit, byID: make(map[jsonrpc2.ID]map[*Call]struct{})}
}

// Begin adds a request whose context descends from parent. It reports false if too many requests
// are being handled. Requests that stop something have a limit of their own. Two requests may
// carry the same id although the protocol forbids it; cancelling the id cancels both.
func (cs *Calls) Begin(parent context.Context, id jsonrpc2.ID, stops bool) (*Call, bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	count := cs.counterLocked(stops)
	if *count >= cs.limit {
		return nil, false
	}
	*count++
	c := &Call{id: id, stops: stops}
	ctx, cancel := context.WithCancelCause(parent)
	c.ctx, c.cancel = context.WithValue(ctx, callKey{}, c), cancel
	if cs.byID[id] == nil {
		cs.byID[id] = make(map[*Call]struct{}, 1)
	}
	cs.byID[id][c] = struct{}{}
	return c, true
}

// counterLocked returns the counter for a call.
func (cs *Calls) counterLocked(stops bool) *int {
	if stops {
		return &cs.stops
	}
	return &cs.n
}

// End removes a call that [Calls.Begin] added and ends its context.
func (cs *Calls) End(c *Call) {
	c.cancel(nil)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.byID[c.id], c)
	if len(cs.byID[c.id]) == 0 {
		delete(cs.byID, c.id)
	}
	*cs.counterLocked(c.stops)--
	if cs.n+cs.stops == 0 {
		for _, ch := range cs.empty {
			close(ch)
		}
		cs.empty = nil
	}
}

// Cancel cancels the requests with an id, if there are any.
func (cs *Calls) Cancel(id jsonrpc2.ID) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for c := range cs.byID[id] {
		c.Cancel()
	}
}

// Idle returns a channel that is closed when no request is being handled.
func (cs *Calls) Idle() <-chan struct{} {
	ch := make(chan struct{})
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.n+cs.stops == 0 {
		close(ch)
	} else {
		cs.empty = append(cs.empty, ch)
	}
	return ch
}

type callKey struct{}

// CallOf returns the request that ctx belongs to, or nil.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}
