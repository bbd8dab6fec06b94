package conn

import (
	"context"
	"io"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.uber.org/zap"
)

// Conn is a connection to one client. It is safe for concurrent use.
type Conn struct {
	log     *zap.Logger
	stream  *stream
	outbox  *outbox
	rpc     jsonrpc2.Conn
	written chan struct{} // closed when writeOutbox has ended
}

// New returns a connection that reads in and writes out. It handles nothing before [Conn.Go].
// exiting is called on the goroutine that reads when the client's exit notification arrives, which
// may be long before the handler gets it.
func New(in io.ReadCloser, out io.WriteCloser, log *zap.Logger, exiting func()) *Conn {
	c := &Conn{log: log, outbox: newOutbox(), written: make(chan struct{})}
	c.stream = newStream(in, out, log, exiting)
	c.rpc = jsonrpc2.NewConn(c.stream, jsonrpc2.WithCodec(codec{&c.stream.bodies}))
	go c.writeOutbox()
	return c
}

// Go starts handling messages. The connection cannot answer any more once ctx has ended.
func (c *Conn) Go(ctx context.Context, h jsonrpc2.Handler) { c.rpc.Go(ctx, h) }

// Call sends a request and waits for the answer. The notifications queued before it are written
// first. If ctx ends, Call sends a cancellation. It leaves result unchanged if the client answers
// null.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	c.outbox.flush(ctx)
	return protocol.Call(ctx, c.rpc, method, params, result)
}

// Notify queues a notification. It does not block.
func (c *Conn) Notify(n Notification) { c.outbox.put(n) }

// OpenNotifications starts writing notifications. Until then they are queued.
func (c *Conn) OpenNotifications() { c.outbox.open() }

// Flush waits until all notifications queued so far are written, the connection is closed or ctx
// ends. It returns at once before [Conn.OpenNotifications].
func (c *Conn) Flush(ctx context.Context) { c.outbox.flush(ctx) }

// CaughtUp waits until the client has read most of its messages, ctx ends or the connection
// stops.
func (c *Conn) CaughtUp(ctx context.Context) {
	for _, room := range []<-chan struct{}{c.outbox.roomy(), c.stream.output.roomy()} {
		select {
		case <-room:
		case <-c.stream.broken:
		case <-c.stream.stopped:
		case <-ctx.Done():
		}
	}
}

// Unread returns the number of bytes of the answers and notifications that the client has not read yet. Those that
// are queued as values are not counted.
func (c *Conn) Unread() int { return c.stream.output.unread() }

// AfterAnswer calls f once the answer to the request being handled with this id was written. It is not called if the output
// breaks before, which ends the server. f must not block.
func (c *Conn) AfterAnswer(id jsonrpc2.ID, f func()) { c.stream.afterAnswer(id, f) }

// OutputBroken returns a channel that is closed when a write has failed. [Conn.OutputErr] returns
// the error.
func (c *Conn) OutputBroken() <-chan struct{} { return c.stream.broken }

// OutputErr returns the error of the first write that failed, or nil.
func (c *Conn) OutputErr() error { return c.stream.writeErr() }

// InputEnded returns a channel that is closed when the input has ended or cannot be read any
// further. The messages read before may not have been handled yet.
func (c *Conn) InputEnded() <-chan struct{} { return c.stream.ended }

// InputTaken returns a channel that is closed when the input has ended and the handler has got
// every message.
func (c *Conn) InputTaken() <-chan struct{} { return c.stream.intake.taken }

// InputErr returns the framing error that ended the input, or nil if it just ended.
func (c *Conn) InputErr() error { return c.stream.readErr() }

// Done returns a channel that is closed when the JSON-RPC connection has terminated. [Conn.Err]
// returns the reason.
func (c *Conn) Done() <-chan struct{} { return c.rpc.Done() }

// Err returns why the JSON-RPC connection terminated. It is nil before that and after a clean end.
func (c *Conn) Err() error { return c.rpc.Err() }

// Settle waits until notifications and answers are written, the output breaks or ctx ends. Then it
// drops the remaining notifications.
func (c *Conn) Settle(ctx context.Context) {
	c.outbox.flush(ctx)
	c.stream.waitAnswered(ctx)
	c.stream.waitWritten(ctx)
	c.outbox.close()
}

// Close closes the connection, in and out. Closing waits for handlers and for a read that may be
// impossible to interrupt; Close leaves them behind after limit.
func (c *Conn) Close(limit time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.stream.stop()
		_ = c.rpc.Close()
		<-c.written
	}()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		c.log.Warn("handlers or writes are stuck; leaving them behind")
		_ = c.stream.Close()
	}
}

// writeOutbox writes queued notifications until the outbox is closed.
func (c *Conn) writeOutbox() {
	defer close(c.written)
	c.outbox.run(func(n Notification) {
		select {
		case <-c.stream.output.quiet():
		case <-c.stream.stopped:
		}
		if err := c.rpc.Notify(context.Background(), n.Method, n.Params); err != nil {
			c.log.Debug("a notification was not sent", zap.String("method", n.Method), zap.Error(err))
		}
	})
}
