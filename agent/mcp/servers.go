package mcp

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// defaultWait is how long the tools of servers that are starting are awaited.
const defaultWait = 10 * time.Second

// Servers are the servers of one session. Its methods may be called concurrently.
type Servers struct {
	options Options
	log     *zap.Logger
	ctx     context.Context //nolint:containedctx // ends with Close
	end     context.CancelCauseFunc

	mu     sync.Mutex
	list   []*server      // never changed in place; guarded by mu
	closed bool           // guarded by mu
	work   sync.WaitGroup // starts and readings of lists; added to with mu
	active []string       // names of tools that search_tools has activated, the last one last; guarded by mu
}

// New returns the servers of a session. It starts none. If several definitions have one name, the first one is used.
func New(o Options) *Servers {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Wait <= 0 {
		o.Wait = defaultWait
	}
	h := &Servers{options: o, log: o.Log}
	if h.log == nil {
		h.log = zap.NewNop()
	}
	h.ctx, h.end = context.WithCancelCause(context.Background())
	for _, def := range o.Servers {
		if named(h.list, def.Name) == nil {
			h.list = append(h.list, h.make(def))
		}
	}
	return h
}

func (h *Servers) make(def Server) *server {
	s := &server{def: def, host: h, limit: def.timeout(h.options.Dialect), secrets: newSecrets(def)}
	s.ctx, s.end = context.WithCancelCause(h.ctx)
	return s
}

// Update replaces the definitions. A server of which same reports true stays as it is, and of its new definition only the name is used.
// The others end, with everything that they started, and start again when they are needed. It returns an error of ctx if that takes longer.
func (h *Servers) Update(ctx context.Context, defs []Server, same func(name string) bool) error {
	h.mu.Lock()
	before := h.list
	var list []*server
	for _, def := range defs {
		if named(list, def.Name) != nil {
			continue
		}
		s := named(before, def.Name)
		if s == nil || !same(def.Name) {
			s = h.make(def)
		}
		list = append(list, s)
	}
	h.list = list
	h.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range before {
		if !slices.Contains(list, s) {
			s.end(errReplaced)
			all.Go(s.finish)
		}
	}
	return within(ctx, all.Wait)
}

// within waits for work, which goes on if ctx ends first. It then returns an error of ctx.
func within(ctx context.Context, work func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// finish ends the connection of a server whose context has ended.
func (s *server) finish() {
	s.mu.Lock()
	a := s.attempt
	s.mu.Unlock()
	if a != nil { // no other one follows
		<-a.done
	}
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l != nil {
		l.awaitCalls()
		l.close()
	}
}

// servers returns the servers in the order of their definitions.
func (h *Servers) servers() []*server {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.list
}

// server returns the server of a name, nil if there is none.
func (h *Servers) server(name string) *server { return named(h.servers(), name) }

func named(list []*server, name string) *server {
	i := slices.IndexFunc(list, func(s *server) bool { return s.def.Name == name })
	if i < 0 {
		return nil
	}
	return list[i]
}

// goes runs work that Close waits for. It reports false if Close was called.
func (h *Servers) goes(f func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.work.Go(f)
	return true
}

// call calls a callback with the name of a server.
func (h *Servers) call(f func(string), s *server) {
	if f != nil {
		f(s.def.Name)
	}
}

// note logs an event of a server.
func (h *Servers) note(s *server, event string, err error) {
	fields := []zap.Field{zap.String("server", s.def.Name), zap.String("source", s.def.Source)}
	if err != nil {
		fields = append(fields, zap.String("reason", s.secrets.line(err.Error())))
	}
	h.log.Info(event, fields...)
}

// State is the state of a server.
type State struct {
	Name      string
	Transport Transport
	Source    string
	Connected bool
	Starting  bool
	Reason    string // why it is not connected, for the user; "" before its first start
	Version   string // of the server
	Tools     []string
	Resources bool
	Prompts   bool
}

// States returns the states of all servers in the order of their definitions. It starts none.
func (h *Servers) States() []State {
	list := h.servers()
	states := make([]State, 0, len(list))
	for _, s := range list {
		known, connected, err := s.now()
		state := State{
			Name: s.def.Name, Transport: s.def.Transport, Source: s.def.Source, Connected: connected,
			Version: known.version, Resources: known.resources, Prompts: known.prompts,
		}
		if state.Transport == "" {
			state.Transport = Stdio
		}
		state.Starting = s.isStarting()
		if err != nil && !connected {
			state.Reason = s.secrets.line(err.Error())
		}
		for _, t := range known.tools {
			state.Tools = append(state.Tools, t.name)
		}
		states = append(states, state)
	}
	return states
}

// Reconnect ends the connection to a server and starts it again.
func (h *Servers) Reconnect(ctx context.Context, name string) error {
	s := h.server(name)
	if s == nil {
		return fault.New(fault.NotFound, "There is no MCP server %q in this session.", name)
	}
	if l := s.forget(); l != nil {
		l.close()
	}
	_, err := s.connected(ctx)
	return err
}

// awaitStarts starts the servers that were never started, and waits for them. A server that has failed is tried again, without
// waiting for it.
func (h *Servers) awaitStarts(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, h.options.Wait)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range h.servers() {
		known, connected, err := s.now()
		if connected || known.known {
			continue // its next call connects again
		}
		late := s.isStarting() // an earlier call has waited for it
		_, a, _ := s.start()   // the reason of a failure is in its state
		if a == nil || err != nil || late {
			continue
		}
		all.Go(func() {
			select {
			case <-a.done:
			case <-ctx.Done():
			}
		})
	}
	all.Wait()
}

// isStarting reports whether a start is under way.
func (s *server) isStarting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attempt != nil
}

// Settle waits a moment until the lists that servers said to have changed are read, so that the next request has them.
func (h *Servers) Settle(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	for _, s := range h.servers() {
		s.mu.Lock()
		reading := s.reading
		s.mu.Unlock()
		if reading == nil {
			continue
		}
		select {
		case <-reading:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends all calls and connections, and the programs with everything that they started. It returns an error of ctx if that
// takes longer; the rest ends without it.
func (h *Servers) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end(errClosed)
	return within(ctx, func() {
		h.work.Wait()
		var all sync.WaitGroup
		for _, s := range h.servers() {
			all.Go(s.finish)
		}
		all.Wait()
	})
}

// awaitCalls waits a moment for the calls of a connection, whose contexts have ended.
func (l *link) awaitCalls() {
	calling, ok := l.running()
	if !ok {
		return
	}
	late := time.NewTimer(sentLimit)
	defer late.Stop()
	select {
	case <-calling.Done():
	case <-late.C:
	}
}
