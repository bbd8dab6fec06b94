package acp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Options say what a server is made of. Commands and Backend are required.
type Options struct {
	Version  string          // of the program, shown to the client
	Commands *commands.Table // what prompts that begin with a slash run
	Backend  Backend
	Log      *zap.Logger // nil logs nothing

	MaxInFlight int           // requests handled at once; more are refused as busy. 0 means 256
	Drain       time.Duration // how long requests may go on after the end of the input. 0 means 250 ms
	Grace       time.Duration // how long cancelled requests, then sessions, then the client's reading are waited for. 0 means 2 s
}

// Backend is what conversations are made of. All of them share it.
type Backend struct {
	Store  *session.Store
	Finder session.Finder
	Fs     afero.Fs
	Disk   tool.Workspace // the files as they are on disk

	// Sessions returns what keeps the live session of one conversation. It is called for
	// every conversation, and closed with it.
	Sessions func(c Client) *agent.Manager
}

// Client is what a conversation may use of the editor.
type Client struct {
	Cwd     string // the folder of the conversation; "" for none
	Files   tool.Workspace
	Approve agent.Asker
	Warn    func(text string) // shows the person a sentence; it does not wait
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

// Serve speaks the protocol until the input ends, ctx ends or the client can no longer be
// written to, which is the error it returns. It then stops the work, closes the sessions and
// flushes the log. A read of in that cannot be interrupted is left behind; the caller is
// expected to end the process.
//
// Neither in nor out may be used by anyone else. On Unix a program whose out is its standard
// output must ignore SIGPIPE, or it dies before the sessions are saved.
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
	// Sync fails on terminals and pipes; there is nothing left to do about it.
	_ = s.log.Sync()
	return err
}

// waitFor waits for done, but not longer than d.
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

	ctx    context.Context //nolint:containedctx // of everything that is done for the client; requests have their own below it
	cancel context.CancelCauseFunc

	desk *commands.Env // for what is about no open session; its sessions are never opened

	client clientInfo // set by initialize, before anything else is handled

	background sync.WaitGroup // what nobody waits for an answer to

	mu            sync.Mutex
	conversations map[string]*conversation // the open ones, by session id; guarded by mu
	closed        bool                     // guarded by mu
}

func newServer(ctx context.Context, o Options) *server {
	s := &server{opts: o, log: o.Log, out: newOutbox(), calls: newCalls(), conversations: map[string]*conversation{}}
	s.conn = newConn(s.out)
	// Not ended by ctx: what it ends is given a reason, and answered.
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.desk = &commands.Env{
		Sessions: o.Backend.Sessions(Client{Files: o.Backend.Disk, Approve: denied, Warn: func(text string) { s.log.Warn(text) }}),
		Store:    o.Backend.Store, Finder: o.Backend.Finder, Fs: o.Backend.Fs, Workspace: o.Backend.Disk, UI: commands.Headless{},
		Folders: func() []string { return nil }, Log: s.log,
	}
	return s
}

// read handles what the client sends until the input ends.
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

// stop ends what runs, closes the sessions and lets the client read what is left.
func (s *server) stop() {
	s.cancel(errStopping)
	close(s.conn.gone)
	waitFor(s.opts.Grace, s.calls.drained())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), s.opts.Grace)
	defer cancel()
	s.closeAll(ctx)
	s.out.close()
	waitFor(s.opts.Grace, s.out.done)
}

// closeAll closes every session, side by side. None is opened afterwards.
func (s *server) closeAll(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	open := s.conversations
	s.conversations = nil
	s.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range open {
		closing.Go(func() { _ = c.close(ctx) }) // logged where it happens
	}
	closing.Wait()
	if err := s.desk.Sessions.Close(ctx); err != nil {
		s.log.Warn("the sessions were not closed cleanly", zap.Error(err))
	}
	s.background.Wait()
}
