package lsp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.uber.org/zap"
)

// responsePrefix starts every answer the connection writes, and nothing else.
var responsePrefix = []byte(`{"jsonrpc":"2.0","id":`)

// keepBuffer is the largest write buffer kept between messages.
const keepBuffer = 1 << 20

// stream is the connection's [jsonrpc2.Stream]: framed messages over in and out,
// with everything the connection would choke on filtered out by [judge].
//
// A goroutine of its own reads in, so that the end of the input is noticed at
// once and a read that cannot be interrupted holds nobody up. The end of the
// input is not passed on to the connection, which could no longer answer, before
// stop is called.
type stream struct {
	in  io.ReadCloser
	out io.WriteCloser
	log *zap.Logger

	frames  chan []byte   // messages for the connection; closed at the end of in
	replies chan []byte   // answers of the guard
	ended   chan struct{} // closed when in has ended
	read    chan struct{} // closed when the connection has taken every message
	stopped chan struct{} // closed by stop
	broken  chan struct{} // closed when out failed

	readOnce, stopOnce sync.Once

	writeMu sync.Mutex
	buf     []byte // guarded by writeMu

	mu       sync.Mutex
	owed     int           // answers not yet written; guarded by mu
	answered chan struct{} // closed when owed is 0; guarded by mu
	inErr    error         // guarded by mu
	outErr   error         // guarded by mu
}

func newStream(in io.ReadCloser, out io.WriteCloser, log *zap.Logger) *stream {
	st := &stream{
		in: in, out: out, log: log,
		frames:  make(chan []byte, 16),
		replies: make(chan []byte, 64),
		ended:   make(chan struct{}),
		read:    make(chan struct{}),
		stopped: make(chan struct{}),
		broken:  make(chan struct{}),
	}
	go st.pump()
	go st.writeReplies()
	return st
}

// pump reads in until it ends or cannot be understood.
func (st *stream) pump() {
	defer close(st.frames)
	defer close(st.ended)
	r := bufio.NewReader(st.in)
	for {
		body, err := readFrame(r)
		switch {
		case err == nil:
			if !st.take(judge(body)) {
				return
			}
		case errors.Is(err, errTooLarge):
			st.take(refuse(jsonrpc2.ID{}, jsonrpc2.InvalidRequest,
				"The message is larger than "+strconv.Itoa(maxBody>>20)+" MiB and was skipped."))
		default:
			if !errors.Is(err, io.EOF) {
				st.mu.Lock()
				st.inErr = err
				st.mu.Unlock()
			}
			return
		}
	}
}

// take carries out a verdict. It reports false when the stream was stopped.
func (st *stream) take(v verdict) bool {
	if v.log != "" {
		st.log.Warn("unusable message", zap.String("problem", v.log))
	}
	if v.reply != nil {
		st.owe(1)
		select {
		case st.replies <- v.reply:
		default: // the client sends rubbish and does not read
			st.owe(-1)
		}
	}
	if v.pass == nil {
		return true
	}
	if v.call {
		st.owe(1)
	}
	select {
	case st.frames <- v.pass:
		return true
	case <-st.stopped:
		return false
	}
}

// writeReplies writes the answers of the guard. They have their own goroutine
// because reading must go on while the client does not read.
func (st *stream) writeReplies() {
	for {
		select {
		case reply := <-st.replies:
			if _, err := st.WriteFrame(context.Background(), reply); err != nil {
				st.owe(-1)
			}
		case <-st.stopped:
			return
		}
	}
}

// ReadFrame returns the next message. The connection finds it by its name.
func (st *stream) ReadFrame(context.Context) ([]byte, int64, error) {
	select {
	case body, ok := <-st.frames:
		if ok {
			return body, int64(len(body)), nil
		}
		st.readOnce.Do(func() { close(st.read) })
		<-st.stopped
	case <-st.stopped:
	}
	return nil, 0, io.EOF
}

// Read implements [jsonrpc2.Stream].
func (st *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	body, n, err := st.ReadFrame(ctx)
	if err != nil {
		return nil, 0, err
	}
	msg, err := jsonrpc2.DecodeMessage(body)
	return msg, n, err
}

// Write implements [jsonrpc2.Stream].
func (st *stream) Write(ctx context.Context, msg jsonrpc2.Message) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	body := jsonrpc2.AppendMessage(nil, msg)
	return st.WriteFrame(ctx, body)
}

// WriteFrame writes one encoded message. Concurrent calls are written one after
// the other. It blocks for as long as the client does not read.
func (st *stream) WriteFrame(_ context.Context, body []byte) (int64, error) {
	st.writeMu.Lock()
	st.buf = append(st.buf[:0], "Content-Length: "...)
	st.buf = strconv.AppendInt(st.buf, int64(len(body)), 10)
	st.buf = append(st.buf, "\r\n\r\n"...)
	st.buf = append(st.buf, body...)
	n, err := st.out.Write(st.buf)
	if cap(st.buf) > keepBuffer {
		st.buf = nil
	}
	st.writeMu.Unlock()
	if err != nil {
		st.breakOutput(err)
		return int64(n), err
	}
	if bytes.HasPrefix(body, responsePrefix) {
		st.owe(-1)
	}
	return int64(n), nil
}

// Close implements [jsonrpc2.Stream].
func (st *stream) Close() error {
	st.stop()
	return errors.Join(st.in.Close(), st.out.Close())
}

// stop tells the connection that the input has ended.
func (st *stream) stop() { st.stopOnce.Do(func() { close(st.stopped) }) }

func (st *stream) breakOutput(err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.outErr == nil {
		st.outErr = err
		close(st.broken)
	}
}

func (st *stream) writeErr() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.outErr
}

// readErr returns why the input could not be understood; nil means it just ended.
func (st *stream) readErr() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.inErr
}

// owe counts answers that must still be written.
func (st *stream) owe(n int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.owed += n
	if st.owed <= 0 && st.answered != nil {
		close(st.answered)
		st.answered = nil
	}
}

// waitAnswered waits until every request has been answered, out breaks or ctx ends.
func (st *stream) waitAnswered(ctx context.Context) {
	st.mu.Lock()
	if st.owed <= 0 {
		st.mu.Unlock()
		return
	}
	if st.answered == nil {
		st.answered = make(chan struct{})
	}
	ch := st.answered
	st.mu.Unlock()
	select {
	case <-ch:
	case <-st.broken:
	case <-ctx.Done():
	}
}
