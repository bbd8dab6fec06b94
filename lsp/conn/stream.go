package conn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// responsePrefix starts every answer that the JSON-RPC connection writes, and nothing else.
var responsePrefix = []byte(`{"jsonrpc":"2.0","id":`)

// stream is the [jsonrpc2.Stream] of the connection: framed messages over in and out, with
// everything that the JSON-RPC connection could not decode filtered out by [judge].
//
// A separate goroutine reads in, so that the end of the input is noticed at once and a read that
// cannot be interrupted blocks nothing. The JSON-RPC connection learns of the end of the input only
// when stop is called, because it cannot answer any more afterwards.
type stream struct {
	in  io.ReadCloser
	out io.WriteCloser
	log *zap.Logger

	intake  *intake       // messages for the connection
	output  *output       // messages for the client
	bodies  pendingBodies // results for the messages
	exiting func()        // called when exit arrives, before the connection gets it
	ended   chan struct{} // closed when in has ended
	stopped chan struct{} // closed by stop
	broken  chan struct{} // closed when out failed

	stopOnce sync.Once

	// mu guards the fields below.
	mu       sync.Mutex
	owed     int           // answers not written yet
	answered chan struct{} // closed when owed is 0
	inErr    error
	outErr   error
	awaited  []awaited
}

// awaited is an answer that has not been written yet.
type awaited struct {
	begins []byte // its first bytes, which no other answer has
	f      func() // called when it was written
}

// newStream returns a stream that reads in and writes out. It calls exiting when exit arrives, even
// if the connection is too busy to take it.
func newStream(in io.ReadCloser, out io.WriteCloser, log *zap.Logger, exiting func()) *stream {
	st := &stream{
		in: in, out: out, log: log, exiting: exiting,
		ended:   make(chan struct{}),
		stopped: make(chan struct{}),
		broken:  make(chan struct{}),
	}
	st.output = newOutput(out, st.wrote, func() {
		log.Info("the client does not read; its requests wait", zap.Int("limit", maxUnread))
	})
	st.intake = newIntake(st.output, st.stopped)
	go st.pump()
	return st
}

// pump reads in until it ends or its framing is broken.
func (st *stream) pump() {
	defer close(st.ended)
	defer st.intake.end()
	r := bufio.NewReader(st.in)
	for {
		body, err := readFrame(r)
		switch {
		case err == nil:
			if !st.take(judge(body)) {
				return
			}
		case errors.Is(err, errTooLarge):
			if !st.take(refuse(jsonrpc2.ID{}, jsonrpc2.InvalidRequest,
				"The message is larger than "+strconv.Itoa(maxBody>>20)+" MiB and was skipped.")) {
				return
			}
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

// take carries out a verdict. It reports false if the stream was stopped.
func (st *stream) take(v verdict) bool {
	if v.log != "" {
		st.log.Warn("unusable message", zap.String("problem", v.log))
	}
	if v.reply != nil && !st.reply(v.reply) {
		return false
	}
	if v.pass == nil {
		return true
	}
	if v.call {
		st.owe(1)
	}
	if v.method == protocol.MethodExit && !v.call { // as a request it is refused
		st.exiting()
	}
	if v.cancels.IsValid() {
		st.cancelHeld(v.cancels)
	}
	return st.intake.add(&incoming{body: v.pass, id: v.id, method: v.method, lane: v.lane, call: v.call})
}

// cancelHeld answers the requests with an id that the connection has not taken yet.
func (st *stream) cancelHeld(id jsonrpc2.ID) {
	for _, m := range st.intake.cancel(id) {
		err := WireError(fault.New(fault.Cancelled, "%s was cancelled.", Printable(m.method)))
		_ = st.put(jsonrpc2.AppendResponse(nil, m.id, nil, err)) // a broken output ends the server
	}
}

// reply writes an answer of the guard. If the client sends invalid messages and does not read the
// answers, reply blocks, so that nothing more is read. It reports false if the stream was stopped.
func (st *stream) reply(body []byte) bool {
	st.owe(1)
	if st.put(body) != nil {
		st.owe(-1)
	}
	select {
	case <-st.output.roomy():
		return true
	case <-st.stopped:
		return false
	}
}

// ReadFrame returns the next message. The JSON-RPC connection finds it by its name.
func (st *stream) ReadFrame(context.Context) ([]byte, int64, error) {
	body, ok := st.intake.next()
	if !ok {
		return nil, 0, io.EOF
	}
	return body, int64(len(body)), nil
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

// WriteFrame queues one encoded message and takes ownership of it. It does not block.
func (st *stream) WriteFrame(_ context.Context, body []byte) (int64, error) {
	if err := st.put(body); err != nil {
		return 0, err
	}
	return int64(len(body)), nil
}

func (st *stream) put(body []byte) error { return st.output.put(st.bodies.message(body)) }

// wrote is called by output for each message that was written or failed, with its bytes in memory.
func (st *stream) wrote(body []byte, err error) {
	if err != nil {
		st.breakOutput(err)
		return
	}
	if bytes.HasPrefix(body, responsePrefix) {
		st.owe(-1)
		st.answeredWith(body)
	}
}

// afterAnswer calls f when an answer with the id was written.
func (st *stream) afterAnswer(id jsonrpc2.ID, f func()) {
	begins, _, _ := bytes.Cut(jsonrpc2.AppendResponse(nil, id, jsonrpc2.RawMessage("null"), nil), []byte(`"result":null}`))
	st.mu.Lock()
	defer st.mu.Unlock()
	st.awaited = append(st.awaited, awaited{begins, f})
}

// answeredWith calls the function that waits for the answer body, if there is one.
func (st *stream) answeredWith(body []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	at := slices.IndexFunc(st.awaited, func(a awaited) bool { return bytes.HasPrefix(body, a.begins) })
	if at < 0 {
		return
	}
	st.awaited[at].f()
	st.awaited = slices.Delete(st.awaited, at, at+1)
}

// Close implements [jsonrpc2.Stream].
func (st *stream) Close() error {
	st.stop()
	st.output.close()
	st.bodies.close()
	return errors.Join(st.in.Close(), st.out.Close())
}

// stop ends the input of the JSON-RPC connection.
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

// readErr returns the framing error of the input, or nil if it just ended.
func (st *stream) readErr() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.inErr
}

// owe adds n to the number of answers that must still be written.
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

// waitWritten waits until everything is written, out breaks or ctx ends.
func (st *stream) waitWritten(ctx context.Context) {
	select {
	case <-st.output.empty():
	case <-st.broken:
	case <-ctx.Done():
	}
}
