package lsp

import (
	"context"
	"errors"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// Why a call's context was cancelled.
var (
	errClientCancelled = errors.New("the client cancelled the request")
	errStopping        = errors.New("the server is stopping")
)

// calls are the requests being handled: what $/cancelRequest can reach and what a
// stopping server waits for. It is safe for concurrent use.
type calls struct {
	limit int

	mu    sync.Mutex
	n     int                              // guarded by mu
	byID  map[jsonrpc2.ID]map[*call]func() // cancel functions; guarded by mu
	empty []chan struct{}                  // closed when n reaches 0; guarded by mu
}

// call is one request being handled.
type call struct {
	id     jsonrpc2.ID
	ctx    context.Context //nolint:containedctx // a call is its context: it ends when the request is cancelled or answered
	cancel context.CancelCauseFunc

	// The request's workDoneToken, and the same until a report uses it.
	asked, token progressToken // guarded by progresses.mu
}

func newCalls(limit int) *calls {
	return &calls{limit: limit, byID: make(map[jsonrpc2.ID]map[*call]func())}
}

// begin registers a request whose work ends with parent. It reports false when
// too many are being handled. Two requests may carry the same id: the protocol
// forbids it, so a cancel then means both.
func (cs *calls) begin(parent context.Context, id jsonrpc2.ID) (*call, bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.n >= cs.limit {
		return nil, false
	}
	c := &call{id: id}
	ctx, cancel := context.WithCancelCause(parent)
	c.ctx, c.cancel = context.WithValue(ctx, callKey{}, c), cancel
	if cs.byID[id] == nil {
		cs.byID[id] = make(map[*call]func(), 1)
	}
	cs.byID[id][c] = func() { cancel(errClientCancelled) }
	cs.n++
	return c, true
}

// end takes back what begin did.
func (cs *calls) end(c *call) {
	c.cancel(nil)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.byID[c.id], c)
	if len(cs.byID[c.id]) == 0 {
		delete(cs.byID, c.id)
	}
	cs.n--
	if cs.n == 0 {
		for _, ch := range cs.empty {
			close(ch)
		}
		cs.empty = nil
	}
}

// cancel cancels the requests with an id, if there are any.
func (cs *calls) cancel(id jsonrpc2.ID) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, cancel := range cs.byID[id] {
		cancel()
	}
}

// idle returns a channel that is closed when no request is being handled.
func (cs *calls) idle() <-chan struct{} {
	ch := make(chan struct{})
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.n == 0 {
		close(ch)
	} else {
		cs.empty = append(cs.empty, ch)
	}
	return ch
}

type callKey struct{}

// callOf returns the request that ctx belongs to, or nil.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}
