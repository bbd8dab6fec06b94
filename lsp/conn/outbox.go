package conn

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"go.lsp.dev/protocol"
)

// Notification is a notification to the client, waiting to be written.
type Notification struct {
	Method string
	Params json.RawMessage

	// Merge, if not "", is a key: the notification replaces a waiting one with the same key.
	Merge string

	// Outdates, if not "", is the key of notifications that each repeat the contents of the one
	// before. Once a newer one is queued, Brief replaces the parameters of the waiting one.
	Outdates string
	Brief    json.RawMessage

	// Session is the id of the session if this is one of its events, else "".
	Session string
}

// size is the memory that a notification takes, in bytes.
func (n Notification) size() int { return len(n.Params) + len(n.Brief) }

// outbox holds notifications to the client until they are written, in the order in which they were
// put. Putting never blocks, so the session manager can do it while the client does not read.
// Meanwhile repeated notifications merge, only the newest output of each running tool is kept, and
// texts come in a few large pieces, which leaves a few hundred bytes for each step of a turn. Turns
// wait before the next request to a model ([Conn.CaughtUp]), so maxOutbox is reached by accident
// only. Then only the newest event of each session is kept, after a gap in the sequence numbers.
type outbox struct {
	wake chan struct{} // there may be something to do

	// mu guards the fields below.
	mu      sync.Mutex
	queue   []Notification    // one without a method was dropped
	size    int               // of queue, in bytes
	newest  map[string]uint64 // index of the newest event by session, while events are being dropped; else nil
	opened  bool
	closed  bool
	added   uint64 // number of queued notifications
	written uint64 // how many of them were written or dropped
	waiters []waiter
	room    threshold // size is at most maxUnread
}

// maxOutbox bounds the waiting notifications, in bytes.
const maxOutbox = 32 << 20

type waiter struct {
	upTo uint64
	done chan struct{}
}

func newOutbox() *outbox { return &outbox{wake: make(chan struct{}, 1)} }

// put queues a notification.
func (o *outbox) put(n Notification) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.mergeLocked(n) {
		return
	}
	if n.Outdates != "" {
		o.shortenLocked(n.Outdates)
	}
	if o.size+n.size() > maxOutbox && !o.makeRoomLocked(n) {
		return
	}
	o.queue = append(o.queue, n)
	o.size += n.size()
	o.added++
	o.notifyLocked()
	o.signal()
}

// mergeLocked puts n in the place of a waiting notification with the same key. It reports false if
// there is none.
func (o *outbox) mergeLocked(n Notification) bool {
	if n.Merge == "" {
		return false
	}
	for i := range o.queue {
		if q := &o.queue[i]; q.Merge == n.Merge {
			o.size += n.size() - q.size()
			*q = n
			o.notifyLocked()
			return true
		}
	}
	return false
}

// roomy returns a channel that is closed once at most maxUnread bytes wait.
func (o *outbox) roomy() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	room := o.room.wait()
	o.notifyLocked()
	return room
}

// notifyLocked wakes the goroutines that wait for room.
func (o *outbox) notifyLocked() { o.room.notify(o.size <= maxUnread || o.closed) }

// makeRoomLocked keeps the outbox from growing: it drops all waiting events of a session but the
// newest, whose number shows the client that it missed some, and messages to the user. It reports
// whether n is to be queued.
func (o *outbox) makeRoomLocked(n Notification) bool {
	switch n.Method {
	case protocol.MethodWindowShowMessage, protocol.MethodWindowLogMessage:
		return false
	}
	if n.Session == "" {
		return true
	}
	if o.newest == nil {
		o.newest = map[string]uint64{}
	}
	// The index of a notification is the number of those added before it.
	first := o.added - uint64(len(o.queue))
	if at, ok := o.newest[n.Session]; ok && at >= first {
		q := &o.queue[at-first]
		o.size -= q.size()
		*q = Notification{}
	}
	o.newest[n.Session] = o.added
	return true
}

// shortenLocked replaces the parameters of the newest waiting notification with the key by their
// brief form. The older ones have been shortened before.
func (o *outbox) shortenLocked(key string) {
	for i := range slices.Backward(o.queue) {
		if q := &o.queue[i]; q.Outdates == key {
			o.size -= len(q.Params)
			q.Params, q.Brief = q.Brief, nil
			q.Outdates = ""
			return
		}
	}
}

// open starts writing. Until then notifications are queued.
func (o *outbox) open() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.opened = true
	o.signal()
}

// close drops the waiting notifications and ends run and every flush.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.queue, o.size = true, nil, 0
	for _, w := range o.waiters {
		close(w.done)
	}
	o.waiters = nil
	o.notifyLocked()
	o.signal()
}

// flush waits until everything put so far is written, the outbox is closed or ctx ends. It returns
// at once if the outbox is not open.
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

// run writes the queued notifications with send until the outbox is closed.
func (o *outbox) run(send func(Notification)) {
	for range o.wake {
		for {
			n, ok := o.next()
			if !ok {
				break
			}
			if n.Method != "" {
				send(n)
			}
			o.wrote()
		}
		if o.isClosed() {
			return
		}
	}
}

func (o *outbox) next() (Notification, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.opened || len(o.queue) == 0 {
		return Notification{}, false
	}
	n := o.queue[0]
	o.queue[0] = Notification{}
	o.queue = o.queue[1:]
	o.size -= n.size()
	o.notifyLocked()
	if len(o.queue) == 0 {
		o.newest = nil
	}
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

// signal wakes run.
func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
