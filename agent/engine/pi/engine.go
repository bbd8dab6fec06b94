package pi

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Options configures an [Engine]. The zero value is the default.
type Options struct {
	Log *zap.Logger // nil logs nothing
	Fs  afero.Fs    // of session files; nil is the machine's
}

// Engine is a pi that answers in a session. It is safe for concurrent use.
type Engine struct {
	program engine.Program
	d       dialect
	log     *zap.Logger
	fs      afero.Fs
	start   starter

	// Set by Open, before any goroutine starts.
	at     engine.Place
	host   engine.Host
	proc   process
	bridge *bridge
	ctx    context.Context //nolint:containedctx // it is the life of the child, which is this struct
	cancel context.CancelFunc

	out     chan []byte
	backlog *backlog
	calls   calls
	gone    chan struct{} // closed when the child's output has ended
	done    chan struct{}

	lastLine atomic.Int64   // when pi wrote a line, in nanoseconds
	tasks    sync.WaitGroup // begun under mu
	queueing sync.Mutex     // held while a message is queued
	asked    atomic.Int32   // open questions of the bridge

	recording sync.Mutex
	recorded  map[string]bool // the entries of commands of the user that were found; guarded by recording

	mu       sync.Mutex // guards what follows
	opened   bool
	closing  bool
	ready    bool
	over     bool // no task begins any more
	err      error
	can      engine.Can
	file     string
	written  bool // the file exists, and messages are written to it as they are reported
	leaf     string
	left     bool // pi is in another session
	hello    *hello
	greeted  chan struct{} // closed and replaced with each hello
	run      *run
	streams  bool // pi is between agent_start and agent_settled, by the lines that were read
	dialogs  map[string]context.CancelFunc
	denied   map[string]string // tools whose call was denied in this run, by call
	question string            // title of the last dialog
	answers  map[int]chan<- commandAnswer
	number   int
	bash     map[string]*output
	unsaved  []savedBash // bash records that wait for the end of the run

	watch  watch  // of the reader
	report report // of the reporter
	shows  limiter

	// Of the reader.
	chunks       chunks
	garbledLines int
	rest         rest

	emptySize int64 // of the file of a new session, before the program was started

	kept    atomic.Int32 // messages that are left in the program's queue after a run
	notices notices
}

// New returns an engine that runs program. It starts nothing.
func New(program engine.Program, o Options) *Engine {
	e := &Engine{
		program: program, d: dialectOf(program), log: o.Log, fs: o.Fs,
		out: make(chan []byte, 64), backlog: newBacklog(), gone: make(chan struct{}), done: make(chan struct{}),
		greeted: make(chan struct{}), dialogs: map[string]context.CancelFunc{}, denied: map[string]string{}, recorded: map[string]bool{}, answers: map[int]chan<- commandAnswer{}, bash: map[string]*output{},
	}
	e.start = e.startChild
	if e.log == nil {
		e.log = zap.NewNop()
	}
	if e.fs == nil {
		e.fs = afero.NewOsFs()
	}
	if e.program.Name == "" {
		e.program.Name = e.d.name
	}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	return e
}

var _ engine.Engine = (*Engine)(nil)

// Can implements [engine.Engine].
func (e *Engine) Can() engine.Can {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.can
}

// Done implements [engine.Engine].
func (e *Engine) Done() <-chan struct{} { return e.done }

// Err implements [engine.Engine].
func (e *Engine) Err() error {
	select {
	case <-e.done:
	default:
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// failure returns why the engine has ended, never nil.
func (e *Engine) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err != nil {
		return e.err
	}
	return e.errClosed()
}

// fail ends the engine for a reason. The first reason counts.
func (e *Engine) fail(reason error) {
	e.mu.Lock()
	first := !e.closing && e.err == nil
	if first {
		e.err = reason
	}
	e.mu.Unlock()
	if !first {
		return
	}
	e.log.Warn("the engine is ended", zap.String("engine", e.program.Name), zap.Error(reason))
	e.task(e.endChild)
}

// endChild ends the child. It logs a failure.
func (e *Engine) endChild() {
	if err := e.kill(); err != nil {
		e.log.Warn("the engine could not be ended", zap.String("engine", e.program.Name), zap.Error(err))
	}
}

// kill ends the child. Its output ends, too, and then the engine.
func (e *Engine) kill() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	return e.proc.Close(ctx)
}

// task runs f on a goroutine that is waited for before the engine has ended. Afterwards it runs nothing.
func (e *Engine) task(f func()) {
	e.mu.Lock()
	over := e.over
	if !over {
		e.tasks.Add(1)
	}
	e.mu.Unlock()
	if over {
		return
	}
	go func() {
		defer e.tasks.Done()
		f()
	}()
}

// Close implements [engine.Engine].
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	opened := e.opened
	e.opened = true // an Open that comes later fails
	e.closing = true
	proc := e.proc
	e.mu.Unlock()
	if !opened {
		e.cancel()
		close(e.done)
		return nil
	}
	if proc == nil { // Open is starting the child, or failed; it ends by itself
		e.cancel()
		return e.waitDone(ctx)
	}
	err := proc.Close(ctx)
	if waited := e.waitDone(ctx); err == nil {
		err = waited
	}
	return err
}

func (e *Engine) waitDone(ctx context.Context) error {
	select {
	case <-e.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begun starts the goroutines of an engine whose child runs.
func (e *Engine) begun() {
	e.lastLine.Store(time.Now().UnixNano())
	e.task(e.writing)
	e.task(e.reading)
	go func() { // it ends last
		e.backlog.run()
		e.cancel()
		e.mu.Lock()
		e.over = true
		e.mu.Unlock()
		e.tasks.Wait()
		_ = e.proc.Exit() // while it lives, the session file is its own
		e.bridge.remove()
		close(e.done)
	}()
}

// ended is called by the reader after the last line.
func (e *Engine) ended() {
	e.mu.Lock()
	known := e.closing || e.err != nil
	ready := e.ready
	e.mu.Unlock()
	if !known {
		// The output has ended, so that the child is about to.
		e.endChild()
		reason := e.endedLater
		if !ready {
			reason = e.endedEarly
		}
		err := reason()
		e.mu.Lock()
		if e.err == nil && !e.closing {
			e.err = err
		}
		e.mu.Unlock()
	}
	close(e.gone)
	e.cancel()
	e.backlog.add(0, e.runEnded)
	e.backlog.close()
}

// deny returns the error of a method that this engine cannot serve.
func (e *Engine) deny(format string, args ...any) error {
	return fault.New(fault.Denied, format, args...)
}

// usable returns an error if the engine cannot take commands.
func (e *Engine) usable() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.err != nil:
		return e.err
	case !e.ready || e.closing:
		return e.errClosed()
	case e.left:
		return fault.New(fault.Stale, "%s has gone to another session.", e.program.Name)
	}
	return nil
}

// idle returns an error if the engine cannot take commands, or a run is active.
func (e *Engine) idle() error {
	if err := e.usable(); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run != nil || e.streams {
		return fault.New(fault.Busy, "%s is answering. Wait, or stop it first.", e.program.Name)
	}
	return nil
}
