package acp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
)

// errStopping cancels running requests when the server stops.
var errStopping = errors.New("the server is stopping")

// errTakenBack ends a request that the client cancelled.
var errTakenBack = errors.New("the client cancelled the request")

// calls are the unfinished requests of the client.
type calls struct {
	mu      sync.Mutex               // guards the fields below
	byID    map[string]*call         // requests without a result
	running int                      // the number of unfinished requests
	lanes   map[string]chan struct{} // by session id; closed when the session's newest request lets the next one begin
	idle    chan struct{}            // closed when no request is running; created by drained
}

// call is one request of the client.
type call struct {
	id        json.RawMessage
	method    string
	sessionID string // "" if it belongs to no session
	cancel    context.CancelCauseFunc

	before <-chan struct{} // closed when the request may begin; nil if it may begin at once
	leave  func()          // lets the session's next request begin; safe to call more than once
	after  func()          // runs after the response, unless it is nil; set by the handler
}

func newCalls() *calls { return &calls{byID: map[string]*call{}, lanes: map[string]chan struct{}{}} }

// begin registers a request. It must be called in the order of arrival. It returns false if limit
// requests are open or the id is in use.
func (cs *calls) begin(ctx context.Context, id json.RawMessage, method, sessionID string, limit int) (context.Context, *call, bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if _, used := cs.byID[string(id)]; used || len(cs.byID) >= limit {
		return ctx, nil, false
	}
	c := &call{id: id, method: method, sessionID: sessionID, leave: func() {}}
	ctx, c.cancel = context.WithCancelCause(ctx)
	cs.byID[string(id)] = c
	cs.running++
	if sessionID != "" {
		c.before, c.leave = cs.joinLocked(sessionID)
	}
	return ctx, c, true
}

// joinLocked queues a request behind those of the same session.
func (cs *calls) joinLocked(sessionID string) (before <-chan struct{}, leave func()) {
	mine := make(chan struct{})
	before = cs.lanes[sessionID]
	cs.lanes[sessionID] = mine
	return before, sync.OnceFunc(func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		close(mine)
		if cs.lanes[sessionID] == mine {
			delete(cs.lanes, sessionID)
		}
	})
}

// turn waits until the earlier requests of the session let c begin.
func (c *call) turn(ctx context.Context) error {
	if c.before == nil {
		return nil
	}
	select {
	case <-c.before:
		return nil
	case <-ctx.Done():
		// The next request must not overtake those before c.
		leave, before := c.leave, c.before
		c.leave = func() {}
		go func() {
			<-before
			leave()
		}()
		return ctx.Err()
	}
}

// free releases the id of a request and its share of the limit. Its response is sent next.
func (cs *calls) free(c *call) {
	c.cancel(nil)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.byID, string(c.id))
}

// end ends a request.
func (cs *calls) end(c *call) {
	c.leave()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.running--
	if cs.running == 0 && cs.idle != nil {
		close(cs.idle)
		cs.idle = nil
	}
}

// drained returns a channel that is closed when no request is running.
func (cs *calls) drained() <-chan struct{} {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	idle := make(chan struct{})
	if cs.running == 0 {
		close(idle)
		return idle
	}
	cs.idle = idle
	return idle
}

// cancelCall cancels one request. An unknown id belongs to a request that was already answered.
func (cs *calls) cancelCall(id json.RawMessage) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.byID[string(id)]; c != nil {
		c.cancel(errTakenBack)
	}
}

// cancelPrompts cancels a session's running and waiting prompts.
func (cs *calls) cancelPrompts(sessionID string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.byID {
		if c.method == methodPrompt && c.sessionID == sessionID {
			c.cancel(errTakenBack)
		}
	}
}
