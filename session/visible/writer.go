package visible

import (
	"io"
	"sync"
)

// Writer escapes text written to it, in pieces that may begin and end anywhere. It holds
// back at most the few bytes that the next piece decides about, until Flush. It is safe for
// concurrent use.
type Writer struct {
	mu   sync.Mutex // guards all below
	to   io.Writer
	s    scanner
	held []byte // the end of the last piece
	buf  []byte
}

// NewWriter returns a Writer that escapes like [Text].
func NewWriter(to io.Writer) *Writer { return &Writer{to: to, s: newScanner(textForm)} }

// NewJSONWriter returns a Writer that escapes like [JSON].
func NewJSONWriter(to io.Writer) *Writer { return &Writer{to: to, s: newScanner(jsonForm)} }

// Write writes b except for the bytes it holds back.
func (w *Writer) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.write(b, false); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Flush writes the bytes that were held back: the text ends here. Later writes begin
// another one.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.write(nil, true)
	w.s.prev = nothing
	return err
}

// maxBuffer is the size of a buffer that is kept for the next piece.
const maxBuffer = 1 << 16

func (w *Writer) write(b []byte, last bool) error {
	if len(w.held) > 0 {
		b = append(w.held, b...)
		w.held = nil
	}
	out, used, changed := w.s.scan(w.buf[:0], b, last)
	if !changed {
		out = b[:used]
	} else if cap(out) <= maxBuffer {
		w.buf = out
	}
	if used < len(b) {
		w.held = append([]byte(nil), b[used:]...)
	}
	if len(out) == 0 {
		return nil
	}
	_, err := w.to.Write(out)
	return err
}
