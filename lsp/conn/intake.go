package conn

import (
	"slices"
	"sync"

	"go.lsp.dev/jsonrpc2"
)

// maxHeld bounds the messages of the client that were read and not taken yet, in bytes. Above it
// the server stops reading.
const maxHeld = 8 << 20

// maxPassed is the number of requests that stop something which are taken while the client does
// not read. They are bounded because they are answered.
const maxPassed = 1024

// incoming is a message of the client.
type incoming struct {
	body   []byte // nil if it was cancelled before it was taken
	id     jsonrpc2.ID
	method string
	lane   lane
	call   bool

	seq int // number in the order of arrival
}

// intake holds messages of the client until the connection takes them. They are taken in order
// while the client reads; otherwise only those that stop something are taken. It is safe for
// concurrent use.
type intake struct {
	out     *output
	stopped <-chan struct{}
	wake    chan struct{} // there may be something to take
	taken   chan struct{} // closed when every message was taken

	// mu guards the fields below.
	mu      sync.Mutex
	ordered []*incoming // all but those in passing
	passing []*incoming // those that may overtake others
	byID    map[jsonrpc2.ID][]*incoming
	count   int // of all messages so far
	passed  int // how many that are answered have overtaken others since the client read last
	size    int // of the held messages, in bytes
	ended   bool
	space   chan struct{} // closed when size is at most maxHeld; nil if nothing waits
	once    sync.Once     // closes taken
}

func newIntake(out *output, stopped <-chan struct{}) *intake {
	return &intake{
		out: out, stopped: stopped, wake: make(chan struct{}, 1), taken: make(chan struct{}),
		byID: map[jsonrpc2.ID][]*incoming{},
	}
}

// add holds a message. It waits while too many bytes are held, and reports false if the connection
// has been stopped.
func (q *intake) add(m *incoming) bool {
	space := q.hold(m)
	q.signal()
	if space == nil {
		return true
	}
	select {
	case <-space:
		return true
	case <-q.stopped:
		return false
	}
}

func (q *intake) hold(m *incoming) (space <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count++
	m.seq = q.count
	if m.lane != inOrder {
		q.passing = append(q.passing, m)
		q.size += len(m.body)
	}
	if m.lane == inOrder || m.lane == again {
		q.ordered = append(q.ordered, m)
		q.size += len(m.body)
	}
	if m.call {
		q.byID[m.id] = append(q.byID[m.id], m)
	}
	if q.size > maxHeld {
		q.space = make(chan struct{})
	}
	return q.space
}

// cancel drops the held requests with an id and returns them. There is at most one unless the
// client reused the id.
func (q *intake) cancel(id jsonrpc2.ID) []*incoming {
	q.mu.Lock()
	defer q.mu.Unlock()
	dropped := q.byID[id]
	delete(q.byID, id)
	for _, m := range dropped {
		q.releaseLocked(m)
		m.body = nil
	}
	return dropped
}

// end notes that no further message will arrive.
func (q *intake) end() {
	q.mu.Lock()
	q.ended = true
	q.mu.Unlock()
	q.signal()
}

// next waits for a message that may be taken. It reports false if the connection has been stopped.
func (q *intake) next() ([]byte, bool) {
	for {
		unread := q.out.unread()
		if body, ok := q.take(unread); ok {
			return body, true
		}
		var room <-chan struct{} // nil while there is some
		if unread > maxUnread {
			room = q.out.roomy()
		}
		select {
		case <-q.wake:
		case <-room:
		case <-q.stopped:
			return nil, false
		}
	}
}

// take returns the first message that may be taken while that many bytes are unread.
func (q *intake) take(unread int) ([]byte, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	m := q.firstLocked(unread)
	if m == nil {
		if q.ended && len(q.ordered)+len(q.passing) == 0 {
			q.once.Do(func() { close(q.taken) })
		}
		return nil, false
	}
	if m.call {
		q.forgetLocked(m)
	}
	q.releaseLocked(m)
	return m.body, true
}

// forgetLocked removes a request from byID.
func (q *intake) forgetLocked(m *incoming) {
	rest := slices.DeleteFunc(q.byID[m.id], func(o *incoming) bool { return o == m })
	if len(rest) == 0 {
		delete(q.byID, m.id)
	} else {
		q.byID[m.id] = rest
	}
}

// firstLocked removes the first message that may be taken from its queue.
func (q *intake) firstLocked(unread int) *incoming {
	if unread <= maxUnread {
		q.passed = 0
	}
	dropCancelled(&q.ordered)
	dropCancelled(&q.passing)
	ordered, passing := head(q.ordered), head(q.passing)
	switch {
	case unread > maxUnread:
		return q.passLocked(passing)
	case ordered != nil && passing != nil && ordered == passing: // it has not overtaken anything
		q.releaseLocked(passing)
		q.ordered, q.passing = q.ordered[1:], q.passing[1:]
		return ordered
	case ordered != nil && (passing == nil || ordered.seq < passing.seq):
		q.ordered = q.ordered[1:]
		return ordered
	case passing != nil:
		q.passing = q.passing[1:]
		return passing
	}
	return nil
}

// passLocked removes a message that overtakes others from its queue. m is nil if there is none.
func (q *intake) passLocked(m *incoming) *incoming {
	switch {
	case m == nil:
		return nil
	case m.lane == stops && q.passed == maxPassed:
		return nil
	case m.lane == stops:
		q.passed++
	}
	q.passing = q.passing[1:]
	return m
}

func head(queue []*incoming) *incoming {
	if len(queue) == 0 {
		return nil
	}
	return queue[0]
}

func dropCancelled(queue *[]*incoming) {
	for len(*queue) > 0 && (*queue)[0].body == nil {
		*queue = (*queue)[1:]
	}
}

// releaseLocked notes that m has left one of its queues.
func (q *intake) releaseLocked(m *incoming) {
	q.size -= len(m.body)
	if q.space != nil && q.size <= maxHeld {
		close(q.space)
		q.space = nil
	}
}

func (q *intake) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
