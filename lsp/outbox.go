package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
)

// outbox holds notifications to the client until they are written, in the order
// they were put. Putting never blocks, so that the manager of the sessions can do
// it while the client does not read. While it does not, repeated notifications merge,
// what a running tool has put out so far is kept once, and texts come as a few large
// pieces: what is left is a few hundred bytes for each step of a turn.
type outbox struct {
	wake chan struct{} // there may be something to do

	mu      sync.Mutex
	queue   []outgoing
	opened  bool
	closed  bool
	added   uint64 // how many were queued
	written uint64 // how many of them were dealt with
	waiters []waiter
}

type outgoing struct {
	method string
	params json.RawMessage
	merge  string // replaces a waiting one with the same key; "" never does

	// outdates, if not "", is the key of notifications of which each says all that the one
	// before it said: those that wait are cut down to their brief form.
	outdates string
	brief    json.RawMessage
}

type waiter struct {
	upTo uint64
	done chan struct{}
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// put queues a notification.
func (o *outbox) put(n outgoing) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	if n.merge != "" {
		for i := range o.queue {
			if o.queue[i].merge == n.merge {
				o.queue[i] = n
				return
			}
		}
	}
	if n.outdates != "" {
		o.cutDown(n.outdates)
	}
	o.queue = append(o.queue, n)
	o.added++
	o.signal()
}

// cutDown takes what was said again out of the newest waiting notification with the key;
// the older ones were cut down by it. It needs mu.
func (o *outbox) cutDown(key string) {
	for i := range slices.Backward(o.queue) {
		if q := &o.queue[i]; q.outdates == key {
			q.params, q.brief = q.brief, nil
			q.outdates = ""
			return
		}
	}
}

// open lets notifications out. Before it they only queue up.
func (o *outbox) open() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opened = true
	o.signal()
}

// close drops what is left and ends run and every flush.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.queue = true, nil
	for _, w := range o.waiters {
		close(w.done)
	}
	o.waiters = nil
	o.signal()
}

// flush waits until everything put so far is written, the outbox is closed or ctx
// ends. It returns at once while the outbox is not open.
func (o *outbox) flush(ctx context.Context) {
	o.mu.Lock()
	if !o.opened || o.closed || o.written >= o.added {
		o.mu.Unlock()
		return
	}
	w := waiter{upTo: o.added, done: make(chan struct{})}
	o.waiters = append(o.waiters, w)
	o.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
	}
}

// run writes what is put with send until the outbox is closed.
func (o *outbox) run(send func(outgoing)) {
	for range o.wake {
		for {
			n, ok := o.next()
			if !ok {
				break
			}
			send(n)
			o.wrote()
		}
		if o.isClosed() {
			return
		}
	}
}

func (o *outbox) next() (outgoing, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.opened || len(o.queue) == 0 {
		return outgoing{}, false
	}
	n := o.queue[0]
	o.queue[0] = outgoing{}
	o.queue = o.queue[1:]
	return n, true
}

func (o *outbox) wrote() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.written++
	waiting := o.waiters[:0]
	for _, w := range o.waiters {
		if o.written >= w.upTo {
			close(w.done)
		} else {
			waiting = append(waiting, w)
		}
	}
	o.waiters = waiting
}

func (o *outbox) isClosed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed
}

// signal wakes run. The caller holds mu.
func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
