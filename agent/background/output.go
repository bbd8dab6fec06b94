package background

import (
	"sync"
	"time"
)

const (
	// maxOutput is how much of the unread output of a command is kept, in bytes. Older output is
	// dropped and counted.
	maxOutput = 64 << 10

	// A command may write burst bytes every burstTime. A faster one waits, as for a slow terminal, so
	// that it does not keep a processor busy for hours.
	burst     = 1 << 20
	burstTime = 100 * time.Millisecond
)

// output is the unread end of a command's output. It is safe for concurrent use.
type output struct {
	mu      sync.Mutex // guards the fields below
	kept    []byte
	dropped int64 // bytes lost since the last take

	// Of the goroutine that writes.
	window  time.Time // when the current burst began
	written int       // in it
}

// Write keeps a piece of output. It never fails, and slows down a command that writes too much.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	o.kept = append(o.kept, b...)
	if extra := len(o.kept) - maxOutput; extra > 0 {
		o.kept = append(o.kept[:0], o.kept[extra:]...)
		o.dropped += int64(extra)
	}
	o.mu.Unlock()
	o.pace(len(b))
	return len(b), nil
}

// pace waits until n further bytes are within the limit.
func (o *output) pace(n int) {
	now := time.Now()
	left := burstTime - now.Sub(o.window)
	if left <= 0 {
		o.window, o.written = now, n
		return
	}
	if o.written += n; o.written > burst {
		time.Sleep(left)
	}
}

// take returns the unread output and marks it as read.
func (o *output) take() (text []byte, dropped int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, dropped = o.kept, o.dropped
	o.kept, o.dropped = nil, 0
	return text, dropped
}
