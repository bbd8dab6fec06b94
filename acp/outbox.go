package acp

import (
	"io"
	"sync"
)

// outbox holds messages to the client until they are written, in the order in which they were put. put never
// blocks, so that sessions can call it while the client does not read. The queue's size is counted in bytes, so
// that the server can stop accepting requests and turns can wait while the client does not read.
type outbox struct {
	wake   chan struct{} // there may be work for run
	broken chan struct{} // closed when the client can no longer be written to
	done   chan struct{} // closed when run has returned

	mu       sync.Mutex
	queue    []any                    // elements: *textPiece, *toolProgress and line
	size     int                      // of queue and of the message being written, in bytes
	room     chan struct{}            // closed when size is at most maxUnread; nil without waiters
	progress map[string]*toolProgress // those in queue, by key
	closed   bool
	err      error // why broken was closed
}

// maxUnread bounds the queued messages while the client does not read, in bytes. Above it no further
// requests are accepted, and turns wait before their next request to the model.
const maxUnread = 16 << 20

// pieceSize is the approximate size of the JSON around a text.
const pieceSize = 200

// line is an encoded message.
type line []byte

// textPiece is a piece of a message that may still grow while it is queued. Only outbox modifies it.
type textPiece struct {
	session, kind, message string
	text                   []byte
}

// toolProgress is a tool's output so far. A newer one replaces it while it is queued.
type toolProgress struct {
	key    string // identifies the session and the call
	params updateParams
	line   line // of params
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), broken: make(chan struct{}), done: make(chan struct{}), progress: map[string]*toolProgress{}}
}

// put queues messages without other messages between them. After close they are dropped.
func (o *outbox) put(messages ...any) {
	messages, err := encodeAll(messages)
	if err != nil {
		o.fail(err)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	for _, m := range messages {
		o.addLocked(m)
	}
	o.signalLocked()
}

// encodeAll encodes the messages that do not change any more as lines.
func encodeAll(messages []any) ([]any, error) {
	encoded := make([]any, len(messages))
	for i, m := range messages {
		switch m := m.(type) {
		case *textPiece:
			encoded[i] = m
		case *toolProgress:
			b, err := encode(notification(methodUpdate, m.params))
			if err != nil {
				return nil, err
			}
			m.line, encoded[i] = b, m
		default:
			b, err := encode(m)
			if err != nil {
				return nil, err
			}
			encoded[i] = line(b)
		}
	}
	return encoded, nil
}

// sizeOf returns the approximate size of an encoded message, in bytes.
func sizeOf(m any) int {
	switch m := m.(type) {
	case *textPiece:
		return len(m.text) + pieceSize
	case *toolProgress:
		return len(m.line)
	case line:
		return len(m)
	}
	return 0
}

// unread returns the size of the queue, in bytes.
func (o *outbox) unread() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size
}

// roomy returns a channel that is closed when the queue holds at most maxUnread bytes.
func (o *outbox) roomy() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.room == nil {
		o.room = make(chan struct{})
	}
	room := o.room
	o.growLocked(0)
	return room
}

// growLocked adds n bytes to the size of the queue.
func (o *outbox) growLocked(n int) {
	o.size += n
	if o.room != nil && (o.size <= maxUnread || o.err != nil) {
		close(o.room)
		o.room = nil
	}
}

// addLocked queues one message.
func (o *outbox) addLocked(m any) {
	switch m := m.(type) {
	case *textPiece:
		if n := len(o.queue); n > 0 {
			if last, ok := o.queue[n-1].(*textPiece); ok && last.session == m.session && last.kind == m.kind && last.message == m.message {
				last.text = append(last.text, m.text...)
				o.growLocked(len(m.text))
				return
			}
		}
	case *toolProgress:
		if waiting := o.progress[m.key]; waiting != nil {
			o.growLocked(len(m.line) - len(waiting.line))
			waiting.params, waiting.line = m.params, m.line
			return
		}
		o.progress[m.key] = m
	}
	o.queue = append(o.queue, m)
	o.growLocked(sizeOf(m))
}

// close lets run return once all queued messages are written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.signalLocked()
}

// run writes the queued messages until the outbox is closed and empty. After a write error it drops all
// further messages.
func (o *outbox) run(w io.Writer) {
	defer close(o.done)
	for range o.wake {
		for {
			m, ok := o.next()
			if !ok {
				break
			}
			size := sizeOf(m)
			if err := write(w, m); err != nil {
				o.fail(err)
				return
			}
			o.written(size)
		}
		if o.over() {
			return
		}
	}
}

func (o *outbox) next() (any, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return nil, false
	}
	m := o.queue[0]
	o.queue[0] = nil
	o.queue = o.queue[1:]
	if p, ok := m.(*toolProgress); ok {
		delete(o.progress, p.key)
	}
	return m, true
}

func (o *outbox) over() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed && len(o.queue) == 0
}

func (o *outbox) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	o.closed, o.queue, o.size, o.err = true, nil, 0, err
	o.growLocked(0)
	close(o.broken)
	o.signalLocked()
}

func (o *outbox) written(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.growLocked(-n)
	}
}

// failure returns why the client can no longer be written to, or nil.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// signalLocked wakes run.
func (o *outbox) signalLocked() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// write writes one message as one line.
func write(w io.Writer, m any) error {
	switch v := m.(type) {
	case line:
		_, err := w.Write(v)
		return err
	case *toolProgress:
		_, err := w.Write(v.line)
		return err
	case *textPiece:
		m = notification(methodUpdate, updateParams{v.session, chunkUpdate{v.kind, textBlock(string(v.text)), v.message}})
	}
	b, err := encode(m)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
