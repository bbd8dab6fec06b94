package conn

import (
	"io"
	"strconv"
	"sync"
)

// maxUnread bounds the bytes that wait for a client that does not read. Above it the server takes
// only messages that stop something, and turns wait before the next request to a model. Answers to
// requests taken before are not counted.
const maxUnread = 16 << 20

// fewUnread is the number of waiting bytes up to which the next notification is passed on. Above
// it, notifications stay in the outbox, where they merge.
const fewUnread = 512

// copyBody is the size of the largest message that is copied behind its header, in bytes.
const copyBody = 64 << 10

// output writes messages to the client, in the order in which they were put. Putting never blocks,
// so the goroutine that reads never waits for a client that does not. It is safe for concurrent
// use.
type output struct {
	out   io.Writer
	wrote func(body []byte, err error) // called by the goroutine that writes, before anything else can see err
	full  func()                       // called with mu held when size passes maxUnread

	wake chan struct{} // there may be something to do

	// mu guards the fields below.
	mu      sync.Mutex
	queue   []message
	size    int       // of queue and of the message that is being written, in bytes
	closed  bool      // nothing is written any more
	err     error     // of the write that failed
	room    threshold // size is at most maxUnread
	few     threshold // size is at most fewUnread
	drained threshold // size is 0
}

func newOutput(out io.Writer, wrote func(body []byte, err error), full func()) *output {
	o := &output{out: out, wrote: wrote, full: full, wake: make(chan struct{}, 1)}
	go o.run()
	return o
}

// put queues a message. It returns the error of an earlier message that could not be written.
func (o *output) put(m message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.closed {
		m.close()
		return o.err
	}
	o.queue = append(o.queue, m)
	if o.size <= maxUnread && o.size+m.size() > maxUnread {
		o.full()
	}
	o.size += m.size()
	o.signal()
	return nil
}

// unread returns the number of waiting bytes.
func (o *output) unread() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.size
}

// roomy returns a channel that is closed once at most maxUnread bytes wait.
func (o *output) roomy() <-chan struct{} { return o.wait(&o.room) }

// quiet returns a channel that is closed once at most fewUnread bytes wait.
func (o *output) quiet() <-chan struct{} { return o.wait(&o.few) }

// empty returns a channel that is closed once nothing waits.
func (o *output) empty() <-chan struct{} { return o.wait(&o.drained) }

func (o *output) wait(t *threshold) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	reached := t.wait()
	o.notifyLocked()
	return reached
}

// notifyLocked wakes the goroutines whose condition holds.
func (o *output) notifyLocked() {
	o.room.notify(o.size <= maxUnread || o.closed)
	o.few.notify(o.size <= fewUnread || o.closed)
	o.drained.notify(o.size == 0 || o.closed)
}

// close drops the waiting messages and ends run.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.dropLocked()
	o.notifyLocked()
	o.signal()
}

// dropLocked drops the waiting messages.
func (o *output) dropLocked() {
	for i := range o.queue {
		o.queue[i].close()
	}
	o.queue, o.size = nil, 0
}

// run writes the queued messages until the output is closed or broken.
func (o *output) run() {
	var frame []byte
	for range o.wake {
		for {
			m, ok := o.next()
			if !ok {
				break
			}
			size := m.size()
			err := o.write(&frame, &m)
			m.close()
			o.wrote(m.bytes, err)
			o.done(size, err)
		}
		if o.isClosed() {
			return
		}
	}
}

// write writes one message. Only a small one is copied, into frame, so that it takes one write.
func (o *output) write(frame *[]byte, m *message) error {
	*frame = appendHeader((*frame)[:0], m.size())
	rest := m.bytes
	if m.body != nil {
		return o.writeBody(*frame, m)
	}
	if len(rest) <= copyBody {
		*frame = append(*frame, rest...)
		rest = nil
	}
	_, err := o.out.Write(*frame)
	if err == nil && rest != nil {
		_, err = o.out.Write(rest)
	}
	return err
}

// writeBody writes a message with a body behind its header. A body that cannot be read breaks the output like a failed write,
// because its length was announced.
func (o *output) writeBody(header []byte, m *message) error {
	before, after := m.bytes[:len(m.bytes)-m.after], m.bytes[len(m.bytes)-m.after:]
	if _, err := o.out.Write(append(header, before...)); err != nil {
		return err
	}
	if _, err := m.body.WriteTo(o.out); err != nil {
		return err
	}
	_, err := o.out.Write(after)
	return err
}

func appendHeader(b []byte, size int) []byte {
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(size), 10)
	return append(b, "\r\n\r\n"...)
}

func (o *output) next() (message, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return message{}, false
	}
	m := o.queue[0]
	o.queue[0] = message{}
	o.queue = o.queue[1:]
	return m, true
}

// done notes that a message of n bytes was written. An error breaks the output: no further message
// is written.
func (o *output) done(n int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil && o.err == nil {
		o.err, o.closed = err, true
	}
	o.size -= n
	if o.closed {
		o.dropLocked()
	}
	o.notifyLocked()
	o.signal()
}

func (o *output) isClosed() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.closed
}

// signal wakes run.
func (o *output) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
