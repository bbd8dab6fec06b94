package acp

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Options configure an engine. Env is required, unless Start ignores it.
type Options struct {
	Version string   // of this program, shown to the agent
	Env     []string // the environment of the agent, to which that of its [engine.Program] is added
	Fs      afero.Fs // the disk; nil means that of this machine
	Log     *zap.Logger
	Now     func() time.Time

	// Start starts the program. nil means a child process.
	Start func(ctx context.Context, c child.Config) (Process, error)
}

// Process is a running program, as far as an engine needs it. [child.Child] is one.
type Process interface {
	Lines() <-chan []byte
	Write(ctx context.Context, line []byte) error
	Done() <-chan struct{}
	Exit() child.Exit
	Stderr() string
	Close(ctx context.Context) error
}

// Engine is an agent of the protocol. It implements [engine.Engine].
type Engine struct {
	program engine.Program
	kind    kind
	o       Options
	disk    tool.Local
	now     func() time.Time
	log     *zap.Logger
	bounds  bounds

	place engine.Place // set by Open, like host and link
	host  engine.Host
	link  *link

	done   chan struct{} // closed when the engine has ended
	ending sync.Once     // guards the closing of done

	// serial is held while a message of the agent is handled, and by everything else that reports to the host. It is
	// locked before mu.
	serial sync.Mutex
	turn   *turn          // nil without a prompt; guarded by serial, like all below
	ids    map[string]int // how often an id of a tool call was used
	plan   string         // the last one that was reported

	mu       sync.Mutex
	can      engine.Can // guarded by mu, like all below
	session  string     // the agent's id of the session; "" until it is known
	mode     string
	modes    map[string]string // names by id
	options  []option
	commands []engine.Command
	run      *run // nil when idle
	closed   bool // by Close
	reason   error
	reads    bool // it has read a file through us
	title    string
	window   int     // of the context, in tokens; 0 if unknown
	used     int     // tokens of the context
	spent    float64 // by the session, in US dollars
	login    []string
}

var _ engine.Engine = (*Engine)(nil)

// New returns an engine that runs the program. It starts nothing.
func New(p engine.Program, o Options) *Engine {
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Fs == nil {
		o.Fs = afero.NewOsFs()
	}
	if o.Start == nil {
		o.Start = func(ctx context.Context, c child.Config) (Process, error) { return child.Start(ctx, c) }
	}
	return &Engine{
		program: p, kind: kindOf(p), o: o, disk: tool.Local{Fs: o.Fs}, now: o.Now, log: o.Log.With(zap.String("engine", p.Name)),
		bounds: bounds{maxText, maxCalls, maxKept},
		done:   make(chan struct{}), ids: map[string]int{}, modes: map[string]string{},
	}
}

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
	if e.closed {
		return nil
	}
	return e.reason
}

// Close implements [engine.Engine].
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	l := e.link
	e.mu.Unlock()
	if l == nil {
		e.end(nil)
		return nil
	}
	err := l.process.Close(ctx)
	select {
	case <-e.done:
	case <-ctx.Done():
	}
	return err
}

// fail ends an agent that cannot be used any more, for the reason err.
func (e *Engine) fail(err error) {
	e.mu.Lock()
	if e.reason == nil {
		e.reason = err
	}
	l := e.link
	e.mu.Unlock()
	go func() {
		if err := l.process.Close(context.Background()); err != nil {
			e.log.Warn("the agent was not ended cleanly", zap.Error(err))
		}
	}()
}

// end records that the engine has ended.
func (e *Engine) end(err error) {
	e.ending.Do(func() {
		e.mu.Lock()
		if e.reason == nil {
			e.reason = err
		}
		e.mu.Unlock()
		close(e.done)
	})
}

// fault returns the error of an engine that cannot be used.
func (e *Engine) fault(format string, args ...any) *fault.Error {
	return fault.New(fault.Provider, format, args...).With("class", "engine").With("engine", e.program.Name)
}

func (e *Engine) denied(format string, args ...any) error {
	return fault.New(fault.Denied, format, args...)
}

// ended returns the error of a method of an engine that has ended.
func (e *Engine) ended() error {
	if err := e.Err(); err != nil {
		return err
	}
	return e.fault("%s has ended.", e.program.Name)
}

// Move implements [engine.Engine]. The protocol has no such method.
func (e *Engine) Move(context.Context, string, engine.Summary) (engine.Moved, error) {
	return engine.Moved{}, e.denied("%s cannot go back. Fork the session instead.", e.program.Name)
}

// Annotate implements [engine.Engine]. The protocol has no such method: the session file is changed while no native agent
// has it.
func (e *Engine) Annotate(context.Context, engine.Annotation) error {
	return e.denied("%s cannot change titles and labels.", e.program.Name)
}

// Bash implements [engine.Engine]. The protocol has no such method.
func (e *Engine) Bash(context.Context, string, bool, func(string)) (json.RawMessage, error) {
	return nil, e.denied("%s runs no commands of the user.", e.program.Name)
}

// Commands implements [engine.Engine].
func (e *Engine) Commands(context.Context) ([]engine.Command, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]engine.Command(nil), e.commands...), nil
}
