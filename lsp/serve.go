package lsp

import (
	"context"
	"io"
	"time"

	"github.com/spf13/afero"
	"go.lsp.dev/jsonrpc2"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Options say what a server is made of. Only Commands and Open are required.
type Options struct {
	Version  string          // of the server, shown to the client
	Commands *commands.Table // what workspace/executeCommand runs
	Manifest any             // marshals to experimental.xcsh.commands; nil means none

	// Open makes the backend when the client initializes; an error fails the
	// initialize request and the client may try again. It must not call the
	// client, which may not be asked anything yet.
	Open func(ctx context.Context, s Settings, c Client) (Backend, error)

	// Started runs on its own goroutine once the client may be spoken to, with
	// the Env of the commands. Commands of the client wait until it returns, so
	// that the first of them finds what the start-up made, or until it asks the
	// person something. Its context ends when the server stops. Optional.
	Started func(ctx context.Context, env *commands.Env)

	Log *zap.Logger // nil logs nothing

	MaxInFlight int           // requests handled at once; more are refused as busy. 0 means 256
	Drain       time.Duration // how long commands may go on after shutdown before they are cancelled. 0 means 250 ms
	Grace       time.Duration // how long cancelled commands, then sessions, are waited for. 0 means 2 s

	ParentPoll time.Duration      // how often the client's process is looked for. 0 means 2 s
	Alive      func(pid int) bool // whether a process exists; nil asks the operating system

	Clock Clock // nil means the real one
}

// Client is what the backend may use of the editor. It is valid until the server
// has stopped.
type Client struct {
	Documents *Documents // the open documents; filled and changed from initialized on
	Hook      hook.Hook  // asks the client before a change of session; nil unless it opted in

	Warn func(text string) // shows the person a sentence; it does not wait

	Approve   agent.Asker                              // asks the person whether a tool may change something
	Workspace func(disk tool.Workspace) tool.Workspace // the files as the editor has them, over those on disk
}

// Backend is what commands work on. The server closes Sessions when it stops.
type Backend struct {
	Sessions *agent.Manager
	Store    *session.Store
	Finder   session.Finder
	Fs       afero.Fs
	Files    tool.Workspace // the files as people see them; nil: prompts take no attachments

	// InputDir is where the files are made, on the real disk, that people write long answers
	// in. It is made when it is needed. "": in the temporary directory.
	InputDir string

	// Live replaces Sessions for what the server itself asks of it. Only tests
	// set it.
	Live Live
}

// Live is what the server itself asks of the sessions. [agent.Manager] is one.
type Live interface {
	Subscribe(f func(agent.Event)) (cancel func())
	CloseFolder(ctx context.Context, cwd string) error
	Close(ctx context.Context) error
}

// Reason says why [Serve] returned.
type Reason string

// The reasons for the end of a server.
const (
	EndExit    Reason = "exit"       // the client sent exit
	EndInput   Reason = "input"      // the input ended
	EndFraming Reason = "framing"    // a message header could not be understood
	EndOutput  Reason = "output"     // the client can no longer be written to
	EndParent  Reason = "parent"     // the client's process is gone
	EndContext Reason = "context"    // the caller's context ended
	EndConn    Reason = "connection" // the connection ended by itself, which is a defect
)

// Result is how a server ended.
type Result struct {
	Reason   Reason
	Shutdown bool  // the client had sent shutdown
	Err      error // what broke, for EndFraming, EndOutput and EndConn
}

// ExitCode is the exit code of a process that served and ended like r: 0 when the
// client had sent shutdown, 1 otherwise, as the protocol says of exit. The end of
// the input counts like exit.
func (r Result) ExitCode() int {
	if r.Shutdown {
		return 0
	}
	return 1
}

func (o Options) withDefaults() Options {
	if o.Commands == nil {
		o.Commands = commands.NewTable()
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = 256
	}
	if o.Drain <= 0 {
		o.Drain = 250 * time.Millisecond
	}
	if o.Grace <= 0 {
		o.Grace = 2 * time.Second
	}
	if o.ParentPoll <= 0 {
		o.ParentPoll = 2 * time.Second
	}
	if o.Alive == nil {
		o.Alive = session.ProcessAlive
	}
	if o.Clock == nil {
		o.Clock = realClock{}
	}
	return o
}

// Serve speaks the protocol until the client leaves, ctx ends or the streams
// break. It then stops the work, closes the sessions, flushes the log, closes in
// and out, and returns. When a read of in cannot be interrupted (a terminal as
// standard input) the goroutine that reads is left behind; the caller is expected
// to end the process.
//
// Neither in nor out may be used by anyone else. On Unix a program whose out is
// its standard output must ignore SIGPIPE, or it dies before the log is flushed.
func Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser, o Options) Result {
	s := newServer(ctx, o.withDefaults())
	s.stream = newStream(in, out, s.log)
	s.conn = jsonrpc2.NewConn(s.stream, jsonrpc2.WithCodec(codec{}))
	go s.writeOutbox()
	// The connection must outlive ctx: a cancelled one can no longer answer.
	s.conn.Go(context.WithoutCancel(ctx), s.handle)

	r := s.wait(ctx)
	s.stop()
	s.settle()
	s.closeConn()
	r.Shutdown = s.state.shutdownSeen()
	s.log.Info("server ended", zap.String("reason", string(r.Reason)), zap.Bool("shutdown", r.Shutdown), zap.Error(r.Err))
	// Sync fails on terminals and pipes; there is nothing left to do about it.
	_ = s.log.Sync()
	return r
}

// wait blocks until there is a reason to stop.
func (s *server) wait(ctx context.Context) Result {
	select {
	case <-s.exit:
		return Result{Reason: EndExit}
	case <-s.parentGone:
		return Result{Reason: EndParent}
	case <-s.stream.broken:
		return Result{Reason: EndOutput, Err: s.stream.writeErr()}
	case <-ctx.Done():
		return Result{Reason: EndContext}
	case <-s.conn.Done():
		return Result{Reason: EndConn, Err: s.conn.Err()}
	case <-s.stream.ended:
		return s.waitRead()
	}
}

// waitRead runs when the input has ended: the messages read before it are still
// handled, one of them may be exit. The wait is bounded because initialize holds
// up the messages behind it.
func (s *server) waitRead() Result {
	t := time.NewTimer(s.opts.Grace)
	defer t.Stop()
	select {
	case <-s.exit:
		return Result{Reason: EndExit}
	case <-s.stream.read:
	case <-t.C:
	}
	select {
	case <-s.exit: // of two that are ready, select takes any
		return Result{Reason: EndExit}
	default:
	}
	if err := s.stream.readErr(); err != nil {
		return Result{Reason: EndFraming, Err: err}
	}
	return Result{Reason: EndInput}
}

// settleTime is how long answers may take to be written at the end, and how long
// the connection may take to close. Both are only late when the client has
// stopped reading or a command ignored its cancellation.
const settleTime = 500 * time.Millisecond

// settle waits for what is still to be written.
func (s *server) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	s.outbox.flush(ctx)
	s.stream.waitAnswered(ctx)
	s.outbox.close()
	close(s.stopped)
}

// closeConn ends the connection. Close waits for handlers and for a read that may
// be impossible to interrupt, so it gets its own goroutine and a limit.
func (s *server) closeConn() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.stream.stop()
		_ = s.conn.Close()
		<-s.written
	}()
	if !waitFor(done, settleTime) {
		s.log.Warn("handlers or writes are stuck; leaving them behind")
		_ = s.stream.Close()
	}
}
