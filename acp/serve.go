package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/memory"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Options configure a server. Commands and Backend are required.
type Options struct {
	Version  string          // of the program, shown to the client
	Commands *commands.Table // for prompts and lists
	Backend  Backend
	Engine   string      // what answers in the conversations; "" for the user's choice
	Log      *zap.Logger // nil logs nothing

	MaxInFlight int           // requests handled at once; further ones fail with busy. 0 means 256
	Drain       time.Duration // the time for running requests after the end of the input. 0 means 250 ms
	Grace       time.Duration // how long to wait for cancelled requests, then sessions, then the client to read. 0 means 2 s
}

// Backend holds the components that all conversations share.
type Backend struct {
	Store  *session.Store
	Finder library.Finder
	Fs     afero.Fs
	Disk   tool.Workspace // the files as they are on disk

	// PDF returns the text of a PDF file; name is that of the file in messages. ok is false for another file. nil reads none.
	PDF commands.PDFReader

	Team commands.Team // nil: no team store is set up

	// Sessions returns the manager of one conversation's live session. It is called for every
	// conversation, and the manager is closed with the conversation.
	Sessions func(c Client) *agent.Manager
}

// Client is the editor's side of a conversation.
type Client struct {
	Cwd     string // the folder of the conversation; "" for none
	Files   tool.Workspace
	Texts   change.Documents // the editor's documents for rewinds
	Approve agent.Asker
	CanAsk  func() bool               // reports whether the user can be asked questions; nil: not
	AskForm agent.FormAsker           // asks the user questions
	Warn    func(text string)         // shows the user a warning; it does not block
	Pace    func(ctx context.Context) // waits until the editor has read most of its messages

	MCPServers []json.RawMessage // that the conversation is to have, as the client sent them
}

func (o Options) withDefaults() Options {
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
	return o
}

// Serve speaks the protocol until the input ends, ctx ends or writing to the client fails, which is the
// error it returns. It then stops running work, closes the sessions and flushes the log. A read of in
// that cannot be interrupted is abandoned; the caller is expected to end the process.
//
// Neither in nor out may be used by other code. On Unix a program whose out is its standard output must
// ignore SIGPIPE, or it dies before the sessions are saved.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := newServer(ctx, o.withDefaults())
	defer s.cancel(nil)
	go s.out.run(out)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.read(in)
	}()
	select {
	case <-ended:
		waitFor(s.opts.Drain, s.calls.drained())
	case <-ctx.Done():
	case <-s.out.broken:
	}
	s.stop()
	err := s.out.failure()
	s.log.Info("server ended", zap.Error(err))
	// Sync fails on terminals and pipes, and the error cannot be handled.
	_ = s.log.Sync()
	return err
}

// waitFor waits for done, but no longer than d.
func waitFor(d time.Duration, done <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
}

// server is one connection.
type server struct {
	opts  Options
	log   *zap.Logger
	out   *outbox
	conn  *conn
	calls *calls

	memory    *memory.Keeper
	admission *admission

	ctx    context.Context //nolint:containedctx // of all work for the client; each request derives its own
	cancel context.CancelCauseFunc

	desk *commands.Env // for requests without an open session; its sessions are never opened

	client clientInfo // set by initialize, before anything else is handled

	background sync.WaitGroup // work that belongs to no request

	large sync.Map // the ids of the sessions that were announced as large

	mu            sync.Mutex
	conversations map[string]*conversation // open conversations, by session id; guarded by mu
	closed        bool                     // guarded by mu
}

func newServer(ctx context.Context, o Options) *server {
	s := &server{opts: o, log: o.Log, out: newOutbox(), calls: newCalls(), conversations: map[string]*conversation{}}
	s.memory = memory.New(memory.Config{Busy: func() bool { return s.out.unread() > maxUnread/16 }})
	s.conn = newConn(s.out)
	s.admission = &admission{begin: s.request, out: s.out}
	// Does not end with ctx: the requests end with a cause and a response.
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.desk = &commands.Env{
		Sessions: o.Backend.Sessions(Client{Files: o.Backend.Disk, Approve: denied, Warn: func(text string) { s.log.Warn(text) }}),
		Store:    o.Backend.Store, Finder: o.Backend.Finder, Fs: o.Backend.Fs, Workspace: o.Backend.Disk, UI: commands.Headless{},
		Folders: func() []string { return nil }, Team: o.Backend.Team, Log: s.log,
	}
	return s
}

// read handles messages until the input ends.
func (s *server) read(in io.Reader) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r, maxLine)
		switch {
		case errors.Is(err, errTooLong):
			s.conn.respond([]byte("null"), nil, refusal(codeInvalidRequest, "invalidRequest", "A message of more than %d bytes was skipped.", maxLine))
		case err != nil:
			if !errors.Is(err, io.EOF) {
				s.log.Warn("the input cannot be read", zap.Error(err))
			}
			return
		case len(line) > 0:
			s.handle(line)
		}
	}
}

// caughtUp blocks until the client has read most of its messages, ctx ends or the server stops.
func (s *server) caughtUp(ctx context.Context) {
	select {
	case <-s.out.roomy():
	case <-s.out.broken:
	case <-s.ctx.Done():
	case <-ctx.Done():
	}
}

// stop cancels the running requests, closes the sessions and lets the client read the rest.
func (s *server) stop() {
	s.cancel(errStopping)
	s.conn.Close()
	waitFor(s.opts.Grace, s.calls.drained())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.opts.Grace)
	defer cancel()
	s.closeAll(ctx)
	s.memory.Close()
	s.out.close()
	waitFor(s.opts.Grace, s.out.done)
}

// closeAll closes all sessions concurrently. No session can be opened afterwards.
func (s *server) closeAll(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	open := s.conversations
	s.conversations = nil
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range open {
		closing.Go(func() { _ = c.close(ctx) }) // logged by close
	}
	closing.Wait()
	if err := s.desk.Sessions.Close(ctx); err != nil {
		s.log.Warn("the sessions were not closed cleanly", zap.Error(err))
	}
	s.background.Wait()
}
