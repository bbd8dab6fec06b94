package conn

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"sync"
)

// Body is the JSON of a large result, which is written from where it is instead of being copied into the answer. A handler
// returns it as its result. It is closed once the answer was written, or will not be.
type Body interface {
	Len() int64
	io.WriterTo
	io.Closer
}

// message is one message to the client: bytes, with a body in front of the last ones if there is one.
type message struct {
	bytes []byte
	body  Body
	after int // how many of the bytes are behind the body
}

// size is the length of m in bytes.
func (m *message) size() int {
	n := len(m.bytes)
	if m.body != nil {
		n += int(m.body.Len())
	}
	return n
}

// close closes the body.
func (m *message) close() {
	if m.body != nil {
		_ = m.body.Close() // the client has the answer, or the connection is broken
	}
}

// pendingBodies are the results on their way through the JSON-RPC connection, which encodes results and builds answers. It gets
// a name in the place of each, which is a string that no session can contain.
type pendingBodies struct {
	mu     sync.Mutex // guards the fields below
	named  map[string]Body
	closed bool
}

// nameSize is the length of a name in bytes, with its quotes.
const nameSize = 2 + 26

// name returns the JSON string that stands for b.
func (bs *pendingBodies) name(b Body) json.RawMessage {
	name := `"` + rand.Text() + `"`
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.closed {
		_ = b.Close()
		return json.RawMessage("null") // it is not sent
	}
	if bs.named == nil {
		bs.named = map[string]Body{}
	}
	bs.named[name] = b
	return json.RawMessage(name)
}

// message returns the message of an answer that was built with a name, or of other bytes.
func (bs *pendingBodies) message(answer []byte) message {
	const end = "}"
	m := message{bytes: answer}
	at := len(answer) - nameSize - len(end)
	if at < 0 || !bytes.HasPrefix(answer, responsePrefix) {
		return m
	}
	bs.mu.Lock()
	defer bs.mu.Unlock()
	name := string(answer[at : at+nameSize])
	if body, ok := bs.named[name]; ok {
		delete(bs.named, name)
		m = message{append(answer[:at:at], end...), body, len(end)}
	}
	return m
}

// close closes the bodies that are in no message, and those that come later.
func (bs *pendingBodies) close() {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	for _, b := range bs.named {
		_ = b.Close()
	}
	bs.named, bs.closed = nil, true
}
