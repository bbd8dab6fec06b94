package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The times that an agent has to answer. A prompt has none.
const (
	greetWithin = 60 * time.Second  // initialize: programs load their code, on machines that do much else
	openWithin  = 120 * time.Second // a session, with its MCP servers
	setWithin   = 15 * time.Second
)

const (
	// maxGarbage is how many lines in a row may be no messages.
	maxGarbage = 100

	// maxAsked bounds the requests of an agent that are handled at once.
	maxAsked = 64

	// maxUnsent is the maximum size of the output queue in bytes.
	maxUnsent = 256 << 20
)

var (
	errSilent = errors.New("it did not answer in time")
	errGone   = errors.New("it has ended")
)

// methodSteering is an extension of the protocol that claude-agent-acp and codex-acp have.
const methodSteering = "_session/steering"

// link is the connection to a running agent.
type link struct {
	e       *Engine
	process Process
	conn    *wire.Conn
	out     sender
	over    chan struct{} // closed when nothing more is received
	asked   atomic.Int32  // requests of the agent that are being handled
	heard   atomic.Int64  // when the last line was received, in nanoseconds since 1970

	garbage int // lines in a row that were no messages; used by read only

	mu      sync.Mutex
	unknown map[string]bool // things that were logged; guarded by mu
}

func newLink(e *Engine, p Process) *link {
	l := &link{e: e, process: p, over: make(chan struct{}), unknown: map[string]bool{}}
	l.out = sender{link: l, wake: make(chan struct{}, 1)}
	l.conn = wire.NewConn(wire.Options{Put: l.out.put, Limit: limitOf, Silent: errSilent, Gone: errGone})
	return l
}

// run begins to receive and to send.
func (l *link) run() {
	go l.read()
	go l.out.run()
}

func limitOf(method string) time.Duration {
	switch method {
	case wire.MethodPrompt:
		return 0
	case wire.MethodInitialize:
		return greetWithin
	case wire.MethodNew, wire.MethodLoad, wire.MethodResume:
		return openWithin
	default:
		return setWithin
	}
}

// call sends a request, and returns the result or an error that can be shown.
func (l *link) call(ctx context.Context, method string, params any) (json.RawMessage, error) {
	var result json.RawMessage
	err := l.conn.Call(ctx, method, params, &result)
	return result, l.e.explain(method, err)
}

// explain makes an error of a request one that can be shown.
func (e *Engine) explain(method string, err error) error {
	name := e.program.Name
	refused, isRefusal := errors.AsType[*wire.Error](err)
	switch {
	case err == nil:
		return nil
	case isRefusal && refused.Code == wire.CodeAuthRequired:
		return e.fault("%s needs a login: %s", name, sentence(refused.Message)).With("class", "auth")
	case isRefusal:
		return e.fault("%s: %s", name, sentence(refused.Message+reasonOf(refused.Data)))
	case errors.Is(err, errSilent):
		return e.fault("%s did not answer in time (%s).", name, method)
	case errors.Is(err, errGone):
		<-e.done
		return e.ended()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Cancelled, "%s was interrupted: %w", method, err)
	default:
		return e.fault("%s sent an answer to %s that cannot be read.", name, method)
	}
}

// read receives until the agent has ended.
func (l *link) read() {
	for line := range l.process.Lines() {
		l.heard.Store(time.Now().UnixNano())
		l.receive(bytes.TrimSpace(line))
	}
	<-l.process.Done()
	close(l.over)
	l.e.end(l.cause())
	l.conn.Close()
}

func (l *link) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// cause is why the agent ended by itself.
func (l *link) cause() error {
	exit := l.process.Exit()
	stderr := l.process.Stderr()
	if exit.Err != nil {
		if f, ok := errors.AsType[*fault.Error](exit.Err); ok {
			return f.With("engine", l.e.program.Name).With("details", stderr)
		}
		return exit.Err
	}
	text := l.e.program.Name + " " + exit.String()
	if last := lastLine(stderr); last != "" {
		text += ": " + last
	}
	return l.e.fault("%s", sentence(text)).With("details", stderr)
}

// receive handles one line.
func (l *link) receive(line []byte) {
	if len(line) == 0 {
		return
	}
	m, _, wrong := wire.Parse(line)
	if wrong != nil {
		l.once("line", "a line is no message")
		if l.garbage++; l.garbage >= maxGarbage {
			l.e.fail(l.e.fault("%s was ended: it does not speak the Agent Client Protocol.", l.e.program.Name))
		}
		return
	}
	l.garbage = 0
	switch {
	case m.Method == "":
		if !l.conn.Answered(m) {
			l.once("answer", "an answer without a request")
		}
	case m.ID == nil:
		l.notified(m)
	default:
		l.requested(m)
	}
}

// once logs a message the first time that a thing happens.
func (l *link) once(thing, message string) {
	thing = name(thing)
	l.mu.Lock()
	known := l.unknown[thing] || len(l.unknown) >= 1000
	if !known {
		l.unknown[thing] = true
	}
	l.mu.Unlock()
	if !known {
		l.e.log.Info("acp: "+message, zap.String("thing", thing))
	}
}

func (l *link) notified(m wire.Envelope) {
	switch m.Method {
	case wire.MethodUpdate:
		l.e.serial.Lock()
		defer l.e.serial.Unlock()
		l.e.updated(m.Params)
	case wire.MethodCancelCall:
		// Questions are taken back with their run.
	default:
		l.once(m.Method, "an unknown notification")
	}
}

// requested begins to handle a request. What the request is about is determined in the order of the messages.
func (l *link) requested(m wire.Envelope) {
	handle := l.handler(m)
	if handle == nil {
		l.once(m.Method, "an unknown request")
		l.refuse(m.ID, wire.Refusal(wire.CodeNoMethod, "methodNotFound", "The method %q is not supported.", fault.OneLine(m.Method)))
		return
	}
	if l.asked.Add(1) > maxAsked {
		l.asked.Add(-1)
		l.refuse(m.ID, wire.Refusal(wire.CodeInternal, "busy", "Too many requests at once."))
		return
	}
	go func() {
		defer l.asked.Add(-1)
		result, err := handle()
		if err != nil {
			l.refuse(m.ID, refusalOf(err))
			return
		}
		l.out.put(wire.Outgoing{JSONRPC: "2.0", ID: m.ID, Result: result})
	}()
}

// handler returns the rest of the work of a request, nil for an unknown method.
func (l *link) handler(m wire.Envelope) func() (any, error) {
	e := l.e
	e.serial.Lock()
	defer e.serial.Unlock()
	switch m.Method {
	case wire.MethodPermission:
		return e.permission(m.Params)
	case wire.MethodReadFile:
		return e.readFile(m.Params)
	case wire.MethodWriteFile:
		return e.writeFile(m.Params)
	case methodElicit:
		return e.elicit(m.Params)
	default:
		return nil
	}
}

func (l *link) refuse(id json.RawMessage, err *wire.Error) {
	l.out.put(wire.Outgoing{JSONRPC: "2.0", ID: id, Error: err})
}

// refusalOf is an error as the agent gets it.
func refusalOf(err error) *wire.Error {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e
	}
	kind := fault.KindOf(err)
	code := wire.CodeInternal
	switch {
	case kind == fault.NotFound || missing(err):
		code = wire.CodeNotFound
	case kind == fault.InvalidArgument:
		code = wire.CodeInvalidParams
	case kind == fault.Cancelled, errors.Is(err, context.Canceled):
		code = wire.CodeCancelled
	}
	return wire.Refusal(code, string(kind), "%s", err.Error())
}

// sender writes messages in order. Those who send do not wait.
type sender struct {
	link *link
	wake chan struct{}

	mu    sync.Mutex
	queue [][]byte // guarded by mu
	size  int      // of queue, in bytes; guarded by mu
}

func (s *sender) put(m wire.Outgoing) {
	line, err := wire.Encode(m)
	if err != nil {
		s.link.e.fail(s.link.e.fault("A message for %s could not be encoded: %w", s.link.e.program.Name, err))
		return
	}
	s.mu.Lock()
	full := s.size+len(line) > maxUnsent
	if !full {
		s.queue = append(s.queue, bytes.TrimSuffix(line, []byte("\n")))
		s.size += len(line)
	}
	s.mu.Unlock()
	if full {
		s.link.e.fail(s.link.e.fault("%s was ended: it does not read what it asks for.", s.link.e.program.Name))
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *sender) next() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		s.queue = nil
		return nil
	}
	line := s.queue[0]
	s.queue[0] = nil
	s.queue = s.queue[1:]
	s.size -= len(line) + 1
	return line
}

// run writes until the agent has ended.
func (s *sender) run() {
	for {
		select {
		case <-s.wake:
		case <-s.link.over:
			return
		}
		for line := s.next(); line != nil; line = s.next() {
			if err := s.link.process.Write(context.Background(), line); err != nil {
				if !errors.Is(err, child.ErrEnded) {
					s.link.e.log.Info("a message could not be written", zap.Error(err))
				}
				return // the agent ends, or has ended
			}
		}
	}
}
