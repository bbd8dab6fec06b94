package acp

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
)

// errStopping ends what runs when the server stops.
var errStopping = errors.New("the server is stopping")

// errTakenBack ends a request that the client does not want any more.
var errTakenBack = errors.New("the client took the request back")

// calls are the requests of the client that are not answered yet.
type calls struct {
	mu      sync.Mutex               // guards what follows
	byID    map[string]*call         // those without a result
	running int                      // those that are not over
	lanes   map[string]chan struct{} // closed when the newest request about the session lets others pass; by session id
	idle    chan struct{}            // closed when none is running; made by drained
}

// call is one request of the client.
type call struct {
	id        json.RawMessage
	method    string
	sessionID string // "" when it is about none
	cancel    context.CancelCauseFunc

	before <-chan struct{} // closed when it is its turn; nil when nothing is before it
	leave  func()          // lets the next request about the session begin; more than once does nothing
}

func newCalls() *calls { return &calls{byID: map[string]*call{}, lanes: map[string]chan struct{}{}} }

// begin takes notice of a request. It must be called in the order in which they came. It
// reports false when there are limit already, or one with this id.
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
		c.before, c.leave = cs.join(sessionID)
	}
	return ctx, c, true
}

// join puts a request behind those about the same session. The caller holds mu.
func (cs *calls) join(sessionID string) (before <-chan struct{}, leave func()) {
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

// turn waits until the requests before c let it pass.
func (c *call) turn(ctx context.Context) error {
	if c.before == nil {
		return nil
	}
	select {
	case <-c.before:
		return nil
	case <-ctx.Done():
		// The next one must not overtake those before this one.
		leave, before := c.leave, c.before
		c.leave = func() {}
		go func() {
			<-before
			leave()
		}()
		return ctx.Err()
	}
}

// free gives the id and the place of a request to others: it has a result, and is answered now.
func (cs *calls) free(c *call) {
	c.cancel(nil)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.byID, string(c.id))
}

// end says that a request is over.
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

// drained returns a channel that is closed once no request is running.
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

// cancelCall cancels one request; one that is not known was answered already.
func (cs *calls) cancelCall(id json.RawMessage) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.byID[string(id)]; c != nil {
		c.cancel(errTakenBack)
	}
}

// cancelPrompts cancels the prompts of a session, those that run and those that wait.
func (cs *calls) cancelPrompts(sessionID string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.byID {
		if c.method == methodPrompt && c.sessionID == sessionID {
			c.cancel(errTakenBack)
		}
	}
}
