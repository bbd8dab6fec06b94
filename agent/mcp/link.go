package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// protocolVersion is the one that pi and omp begin with. A server may answer with an older one.
	protocolVersion = "2025-11-25"

	// sentLimit is how long the end of a cancelled call waits for its cancellation to be sent.
	sentLimit = time.Second

	// farewell is how long the end of a connection to an address may take.
	farewell = 3 * time.Second
)

// link is a connection to a server that answers.
type link struct {
	server  *server
	session *sdk.ClientSession
	process *process           // of a program
	remote  *remote            // of an address
	end     context.CancelFunc // ends what belongs to the connection

	gone      chan struct{} // closed when the connection has ended
	cancelled chan struct{} // receives for each cancellation that was sent

	asking atomic.Int32 // questions to the user that are open
	ready  atomic.Bool  // session is set

	mu       sync.Mutex
	tokens   int                                              // guarded by mu
	progress map[string]func(*sdk.ProgressNotificationParams) // by token; guarded by mu
	calls    int                                              // that run; guarded by mu
	calling  context.Context                                  //nolint:containedctx // ends with the last of the running calls; guarded by mu
	noCalls  context.CancelFunc                               // ends it; guarded by mu
}

// dial connects to a server. ctx is that of the start.
func (s *server) dial(ctx context.Context) (*link, error) {
	life, end := contextWithStop(ctx)
	l := &link{
		server: s, end: end, gone: make(chan struct{}), cancelled: make(chan struct{}, 64), //nolint:mnd // more than calls at a time
		progress: map[string]func(*sdk.ProgressNotificationParams){},
	}
	transport, err := l.transport(ctx)
	if err != nil {
		end()
		return nil, s.notStarted(startReason(err), nil)
	}
	// A start that is given up ends the connection, and with it the SDK's wait.
	stop := context.AfterFunc(ctx, l.abandon)
	l.session, err = l.client().Connect(life, transport, &sdk.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if !stop() {
		<-ctx.Done()
	}
	if err == nil && ctx.Err() != nil {
		_ = l.session.Close() // it is given up
		err = context.Cause(ctx)
	}
	if err != nil {
		err = l.startError(ctx, err)
		l.abandon()
		return nil, err
	}
	l.ready.Store(true)
	go func() {
		_ = l.session.Wait() // the reason is that of the process, or of the next call
		l.abandon()
		close(l.gone)
		s.lost(l)
	}()
	return l, nil
}

// transport starts the program, or prepares the requests to the address.
func (l *link) transport(ctx context.Context) (sdk.Transport, error) {
	s := l.server
	var err error
	switch s.def.Transport {
	case HTTP, SSE:
		if l.remote, err = newRemote(s.def, s.secrets, l.sent, l.changed); err != nil {
			return nil, err
		}
		return l.remote.transport(), nil
	case Stdio, "":
		if l.process, err = startProcess(ctx, s.def, s.host.options, s.host.log, l.sent, l.changed); err != nil {
			return nil, err
		}
		return l.process, nil
	default:
		return nil, fmt.Errorf("the transport %q is unknown", s.def.Transport)
	}
}

// client returns the SDK's client with the handlers of this connection.
func (l *link) client() *sdk.Client {
	s := l.server
	o := &sdk.ClientOptions{
		Capabilities:                &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{}}, //nolint:staticcheck // deprecated, but used by servers
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { l.report(r.Params) },
		// Changes are noticed when they are read: the SDK may call these after the result of the call that made them.
		ToolListChangedHandler:     func(context.Context, *sdk.ToolListChangedRequest) {},
		PromptListChangedHandler:   func(context.Context, *sdk.PromptListChangedRequest) {},
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {},
	}
	if s.host.options.Ask != nil {
		o.ElicitationHandler = l.ask
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "xcsh-ls", Version: s.host.options.Version}, o)
	cwd := s.host.options.Cwd
	c.AddRoots(&sdk.Root{URI: (&url.URL{Scheme: "file", Path: filepath.ToSlash(cwd)}).String(), Name: filepath.Base(cwd)}) //nolint:staticcheck // as above
	return c
}

// startError returns why a server did not start.
func (l *link) startError(ctx context.Context, err error) error {
	s := l.server
	switch {
	case l.remote != nil && l.remote.signIn.Load():
		return s.wantsSignIn()
	case errors.Is(context.Cause(ctx), errClosed), errors.Is(context.Cause(ctx), errReplaced):
		return context.Cause(ctx)
	case ctx.Err() != nil:
		return s.silent(startLimit, false)
	}
	if words, ok := protocolError(err); ok {
		return s.notStarted(words, nil)
	}
	if l.process != nil {
		l.abandon()
		why, stderr := l.process.end()
		return s.notStarted(why, stderr)
	}
	return s.notStarted(startReason(err), nil)
}

// abandon ends the connection at once, and the program with everything that it started.
func (l *link) abandon() {
	l.end()
	if l.process != nil {
		_ = l.process.Close() // processes that do not end are in the log
	}
	if l.remote != nil {
		l.remote.close()
	}
}

// close ends the connection.
func (l *link) close() {
	if l.process != nil {
		l.abandon() // the SDK reads the end of the output
		<-l.gone
		return
	}
	done := make(chan struct{})
	go func() {
		_ = l.session.Close() // tells the server, which may not answer
		close(done)
	}()
	late := time.NewTimer(farewell)
	defer late.Stop()
	select {
	case <-done:
	case <-late.C:
	}
	l.abandon()
	<-l.gone
}

// isGone reports whether the connection has ended.
func (l *link) isGone() bool {
	select {
	case <-l.gone:
		return true
	default:
		return false
	}
}

// isOver reports whether the connection has ended or is about to.
func (l *link) isOver() bool {
	if l.process != nil {
		select {
		case <-l.process.over:
			return true
		default:
		}
	}
	return l.isGone()
}

// begin registers a call. The returned context ends with the connection's host, too.
func (l *link) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.server.ctx, func() { cancel(context.Cause(l.server.ctx)) })
	l.mu.Lock()
	if l.calls == 0 {
		l.calling, l.noCalls = context.WithCancel(context.WithoutCancel(ctx))
	}
	l.calls++
	l.mu.Unlock()
	return ctx, func() {
		stop()
		cancel(nil)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.calls--; l.calls == 0 {
			l.noCalls()
		}
	}
}

// running returns a context that ends when no call runs any more, and false if none runs.
func (l *link) running() (context.Context, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calling, l.calls > 0
}

// follow passes the progress of a call to f, and returns the token of the call.
func (l *link) follow(f func(*sdk.ProgressNotificationParams)) (token string, stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tokens++
	token = strconv.Itoa(l.tokens)
	l.progress[token] = f
	return token, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.progress, token)
	}
}

// report passes on a progress notification.
func (l *link) report(p *sdk.ProgressNotificationParams) {
	token, ok := p.ProgressToken.(string)
	if !ok {
		return
	}
	l.mu.Lock()
	f := l.progress[token]
	l.mu.Unlock()
	if f != nil {
		f(p)
	}
}

// changed records that the server has announced a change. One during the start is in the lists that are read after it.
func (l *link) changed() {
	if l.ready.Load() {
		l.server.changed(l)
	}
}

// sent records that a cancellation was sent.
func (l *link) sent() {
	select {
	case l.cancelled <- struct{}{}:
	default:
	}
}

// awaitCancellation waits until the cancellation of a call was sent, so that it reaches the server before its end.
func (l *link) awaitCancellation() {
	late := time.NewTimer(sentLimit)
	defer late.Stop()
	select {
	case <-l.cancelled:
	case <-l.gone:
	case <-late.C:
	}
}
