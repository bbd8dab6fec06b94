package acp

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"unicode/utf8"
)

// outbox holds messages to the client until they are written, in the order they were put.
// Putting never blocks, so that the sessions can do it while the client does not read.
// Messages are made into JSON when it is their turn and must not change once they were put.
type outbox struct {
	wake   chan struct{} // there may be something to do
	broken chan struct{} // closed when the client can no longer be written to
	done   chan struct{} // closed when run has returned

	mu       sync.Mutex
	queue    []any
	progress map[string]*toolProgress // those of queue, by key
	closed   bool
	err      error // why broken is closed
}

// textPiece is a piece of a message that may still grow while it waits. Outbox owns it.
type textPiece struct {
	session, kind, message string
	text                   []byte
}

// toolProgress is what a tool has put out so far. A later one replaces it while it waits.
type toolProgress struct {
	key    string // of the session and the call
	params updateParams
}

func newOutbox() *outbox {
	return &outbox{wake: make(chan struct{}, 1), broken: make(chan struct{}), done: make(chan struct{}), progress: map[string]*toolProgress{}}
}

// put queues messages, with nothing between them. After close they are dropped.
func (o *outbox) put(messages ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	for _, m := range messages {
		o.add(m)
	}
	o.signal()
}

// add queues one message. The caller holds mu.
func (o *outbox) add(m any) {
	switch m := m.(type) {
	case *textPiece:
		if n := len(o.queue); n > 0 {
			if last, ok := o.queue[n-1].(*textPiece); ok && last.session == m.session && last.kind == m.kind && last.message == m.message {
				last.text = append(last.text, m.text...)
				return
			}
		}
	case *toolProgress:
		if waiting := o.progress[m.key]; waiting != nil {
			waiting.params = m.params
			return
		}
		o.progress[m.key] = m
	}
	o.queue = append(o.queue, m)
}

// close lets run end once everything that was put is written.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.signal()
}

// run writes what is put until the outbox is closed and empty. After a failure it drops what
// is put.
func (o *outbox) run(w io.Writer) {
	defer close(o.done)
	for range o.wake {
		for {
			m, ok := o.next()
			if !ok {
				break
			}
			if err := write(w, m); err != nil {
				o.fail(err)
				return
			}
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
	o.closed, o.queue, o.err = true, nil, err
	close(o.broken)
}

// failure is why the client can no longer be written to, or nil.
func (o *outbox) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// signal wakes run. The caller holds mu.
func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// write writes one message as one line.
func write(w io.Writer, m any) error {
	switch v := m.(type) {
	case *textPiece:
		m = notification(methodUpdate, updateParams{v.session, chunkUpdate{v.kind, textBlock(string(v.text)), v.message}})
	case *toolProgress:
		m = notification(methodUpdate, v.params)
	}
	line, err := encode(m)
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}

// encode makes one line of a message. Bytes of a session file that are no text are replaced,
// because the protocol is UTF-8.
func encode(m any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, err
	}
	if utf8.Valid(b.Bytes()) {
		return b.Bytes(), nil
	}
	return bytes.ToValidUTF8(b.Bytes(), []byte("\uFFFD")), nil
}
