package acp

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxHeld bounds the requests that are held while the client does not read, in bytes. Above it the
// server stops reading from the client.
const maxHeld = 8 << 20

// admission holds requests while the client does not read. They begin in order, started by one goroutine
// at a time.
type admission struct {
	begin func(envelope)
	out   *outbox

	turn sync.Mutex // held while a request begins; locked before mu

	mu       sync.Mutex
	held     []envelope // guarded by mu, like all fields below
	size     int
	draining bool
}

// add begins a request or holds it. It blocks while too many are held, until done is closed.
func (a *admission) add(m envelope, done <-chan struct{}) {
	a.mu.Lock()
	if !a.draining && a.out.unread() <= maxUnread {
		a.mu.Unlock()
		a.turn.Lock()
		defer a.turn.Unlock()
		a.begin(m)
		return
	}
	a.held = append(a.held, m)
	a.size += len(m.Params)
	full := a.size > maxHeld
	if !a.draining {
		a.draining = true
		go a.drain(done)
	}
	a.mu.Unlock()
	if full {
		a.wait(done)
	}
}

// wait blocks until the client reads or the server stops.
func (a *admission) wait(done <-chan struct{}) {
	select {
	case <-a.out.roomy():
	case <-a.out.broken:
	case <-done:
	}
}

// drain begins the held requests as the client reads.
func (a *admission) drain(done <-chan struct{}) {
	for {
		a.wait(done)
		if !a.beginNext() {
			return
		}
	}
}

// beginNext begins the first held request. It returns false if there is none.
func (a *admission) beginNext() bool {
	a.turn.Lock() // before the request leaves the queue, so that drop finds every request that has not begun
	defer a.turn.Unlock()
	m, ok := a.next()
	if ok {
		a.begin(m)
	}
	return ok
}

func (a *admission) next() (m envelope, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held) == 0 {
		a.draining = false
		return m, false
	}
	m = a.held[0]
	a.held[0] = envelope{}
	a.held = a.held[1:]
	a.size -= len(m.Params)
	return m, true
}

// drop removes the matching requests from the queue and returns them. All others that were added have
// begun or are still held.
func (a *admission) drop(match func(envelope) bool) (dropped []envelope) {
	a.turn.Lock()
	defer a.turn.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.held[:0]
	for _, m := range a.held {
		if match(m) {
			dropped = append(dropped, m)
			a.size -= len(m.Params)
		} else {
			kept = append(kept, m)
		}
	}
	clear(a.held[len(kept):])
	a.held = kept
	return dropped
}

// cancelHeld answers held requests that were cancelled before they began.
func (s *server) cancelHeld(match func(envelope) bool) {
	for _, m := range s.admission.drop(match) {
		if m.Method == methodPrompt {
			s.conn.respond(m.ID, promptResult{StopReason: stopCancelled}, nil)
			continue
		}
		s.conn.respond(m.ID, nil, fault.New(fault.Cancelled, "%s was cancelled.", fault.OneLine(m.Method)))
	}
}

// promptOf matches the prompts to a session.
func promptOf(sessionID string) func(envelope) bool {
	return func(m envelope) bool {
		var about sessionParams
		return m.Method == methodPrompt && json.Unmarshal(m.Params, &about) == nil && about.SessionID == sessionID
	}
}

// withID matches the request with that id.
func withID(id json.RawMessage) func(envelope) bool {
	return func(m envelope) bool { return bytes.Equal(m.ID, id) }
}
