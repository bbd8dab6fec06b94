package mcp

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	// startLimit is how long a server may take to start before it is given up. Calls do not wait that long.
	startLimit = 5 * time.Minute

	// A server that failed maxFailures times within failureSpan is not started again for that time.
	maxFailures = 5
	failureSpan = 30 * time.Second

	// settle is how long a server's changes of its lists are awaited before they are read. Some announce several at their start.
	settle = 100 * time.Millisecond

	// settleLimit is how long a request waits for changed lists.
	settleLimit = 10 * time.Second
)

// server is a server of the session, connected or not.
type server struct {
	def     Server
	host    *Servers
	limit   time.Duration // of its answers; 0 is none
	secrets *secrets
	ctx     context.Context //nolint:containedctx // ends with the servers, or when the server is replaced
	end     context.CancelCauseFunc

	mu       sync.Mutex
	link     *link         // the connection; nil without one; guarded by mu
	attempt  *attempt      // the running start; nil without one; guarded by mu
	err      error         // why there is no connection; nil before the first start; guarded by mu
	failures []time.Time   // of starts, the last ones; guarded by mu
	listing  listing       // the last known one; guarded by mu
	reread   *time.Timer   // reads changed lists; nil without changes; guarded by mu
	reading  chan struct{} // closed when the changed lists are read; nil without changes; guarded by mu
}

// attempt is a start that is under way.
type attempt struct {
	done chan struct{}
	link *link // set before done is closed
	err  error // set before done is closed
}

// listing is what a server offers.
type listing struct {
	tools        []remoteTool
	resources    bool
	prompts      bool
	instructions string
	version      string // of the server
	known        bool   // it was read
}

// connected returns the connection, and starts the server if there is none. It waits at most as long as the server may take.
func (s *server) connected(ctx context.Context) (*link, error) {
	l, a, err := s.start()
	if l != nil && l.isOver() { // its program has ended, but perhaps not everything that it started
		select {
		case <-l.gone:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		l, a, err = s.start()
	}
	if err != nil || l != nil {
		return l, err
	}
	var late <-chan time.Time
	if s.limit > 0 {
		t := time.NewTimer(s.limit)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-a.done:
		return a.link, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-late:
		err := s.silent(s.limit, true)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.attempt == a {
			s.err = err
		}
		return nil, err
	}
}

// start returns the connection, or else the running attempt to start the server.
func (s *server) start() (*link, *attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil:
		return nil, nil, context.Cause(s.ctx)
	case s.link != nil && !s.link.isGone():
		return s.link, nil, nil
	case s.attempt != nil:
		return nil, s.attempt, nil
	case s.isTiredLocked():
		return nil, nil, s.err
	}
	a := &attempt{done: make(chan struct{})}
	if !s.host.goes(func() { s.run(a) }) {
		return nil, nil, errClosed
	}
	s.attempt = a
	return nil, a, nil
}

// isTiredLocked reports whether the server has failed too often.
func (s *server) isTiredLocked() bool {
	return len(s.failures) >= maxFailures && time.Since(s.failures[0]) < failureSpan
}

// run starts the server and reads its lists.
func (s *server) run(a *attempt) {
	defer close(a.done)
	ctx, cancel := context.WithTimeout(s.ctx, startLimit)
	defer cancel()
	l, err := s.dial(ctx)
	var found listing
	if err == nil {
		if found, err = l.list(ctx); err != nil {
			err = s.explain(ctx, l, err)
			l.close()
		}
	}
	s.mu.Lock()
	s.attempt, s.err = nil, err
	if err != nil {
		s.failures = append(s.failures, time.Now())
		s.failures = s.failures[max(0, len(s.failures)-maxFailures):]
	} else {
		s.link, s.listing, s.failures = l, found, nil
	}
	a.link, a.err = l, err
	s.mu.Unlock()
	if err != nil {
		a.link = nil
		s.host.note(s, "MCP server not connected", err)
		return
	}
	if l.isGone() { // it has ended since, and lost found no connection
		s.lost(l)
	}
	s.host.note(s, "MCP server connected", nil)
	if s.ctx.Err() != nil {
		return
	}
	s.host.call(s.host.options.Started, s)
	s.host.call(s.host.options.Changed, s)
}

// lost records the end of a connection.
func (s *server) lost(l *link) {
	err := s.goneError(l)
	s.mu.Lock()
	mine := s.link == l
	if mine {
		s.link, s.err = nil, err
	}
	s.mu.Unlock()
	if mine && s.ctx.Err() == nil {
		s.host.note(s, "MCP server disconnected", err)
	}
}

// goneError returns why a connection has ended.
func (s *server) goneError(l *link) error {
	if l.process == nil {
		return s.failure(fault.Provider, "the connection to %q has ended", s.def.Name)
	}
	why, stderr := l.process.end()
	return s.failure(fault.Provider, "%s.%s", why, s.quoted(stderr))
}

// changed reads the lists of a server again, soon.
func (s *server) changed(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reread != nil {
		return
	}
	done := make(chan struct{})
	s.reading = done
	s.reread = time.AfterFunc(settle, func() {
		if !s.host.goes(func() { s.read(l, done) }) {
			close(done)
		}
	})
}

// read reads the lists of a server again, and closes done.
func (s *server) read(l *link, done chan struct{}) {
	s.mu.Lock()
	s.reread = nil // a change from now on is read again
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if close(done); s.reading == done {
			s.reading = nil
		}
	}()
	ctx, cancel := context.WithTimeout(s.host.ctx, startLimit)
	defer cancel()
	found, err := l.list(ctx)
	if err != nil {
		return // the lists that are known stay
	}
	s.mu.Lock()
	mine := s.link == l || s.link == nil
	if mine {
		s.listing = found
	}
	s.mu.Unlock()
	if mine {
		s.host.call(s.host.options.Changed, s)
	}
}

// forget makes the next call start the server again, whatever has failed.
func (s *server) forget() *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.link
	s.link, s.failures = nil, nil
	return l
}

// now returns the last known lists, and the reason for a missing connection.
func (s *server) now() (known listing, connected bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing, s.link != nil && !s.link.isGone(), s.err
}

const (
	maxTools = 1000 // of one server
	maxPages = 100  // of one list
)

// list reads what a server offers.
func (l *link) list(ctx context.Context) (listing, error) {
	init := l.session.InitializeResult()
	found := listing{known: true}
	if init.ServerInfo != nil {
		found.version = l.server.secrets.result(init.ServerInfo.Version)
	}
	found.instructions = l.server.text(init.Instructions, maxInstructions)
	caps := init.Capabilities
	if caps == nil {
		caps = &sdk.ServerCapabilities{}
	}
	found.resources, found.prompts = caps.Resources != nil, caps.Prompts != nil
	if caps.Tools == nil {
		return found, nil
	}
	names := map[string]bool{}
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := l.session.ListTools(ctx, params)
		if err != nil {
			return found, err
		}
		for _, t := range page.Tools {
			if t == nil || t.Name == "" || names[t.Name] || len(found.tools) >= maxTools {
				continue
			}
			names[t.Name] = true
			if made, ok := l.server.tool(t); ok {
				found.tools = append(found.tools, made)
			}
		}
		if page.NextCursor == "" || page.NextCursor == params.Cursor {
			break
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	return found, nil
}

// explain returns the error of a request that failed.
func (s *server) explain(ctx context.Context, l *link, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errClosed):
		return errClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case l.remote != nil && l.remote.signIn.Load():
		return s.wantsSignIn()
	}
	if words, ok := protocolError(err); ok {
		return s.failure(fault.Provider, "MCP error: %s", words)
	}
	closed := errors.Is(err, sdk.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if l.process != nil && (l.isOver() || closed) && l.awaitEnd() {
		return s.goneError(l)
	}
	return s.failure(fault.Provider, "MCP error: %s", startReason(err))
}

// awaitEnd waits a moment for the end of a connection, and reports whether it has ended.
func (l *link) awaitEnd() bool {
	late := time.NewTimer(2 * farewell)
	defer late.Stop()
	select {
	case <-l.gone:
		return true
	case <-late.C:
		return false
	}
}

// namesOf returns the names of servers.
func namesOf(servers []*server) []string {
	list := make([]string, len(servers))
	for i, s := range servers {
		list[i] = s.def.Name
	}
	return slices.Clip(list)
}
