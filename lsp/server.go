package lsp

import (
	"context"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
)

// server is one connection to one client.
type server struct {
	opts   Options
	log    *zap.Logger
	stream *stream
	conn   jsonrpc2.Conn
	routes map[string]route

	state       state
	calls       *calls
	outbox      *outbox
	progress    *progresses
	folders     *folders
	documents   *Documents
	sessions    *sessions
	sessionDocs *sessionDocs
	transcripts *shownTranscripts
	config      configuration

	// work is what every request's context descends from; endWork cancels it.
	work    context.Context //nolint:containedctx // it is the life of the server, which is this struct
	endWork context.CancelCauseFunc

	exit       chan struct{} // closed by the exit notification
	exitOnce   sync.Once
	parentGone chan struct{} // closed when the client's process is gone
	parentOnce sync.Once
	stopped    chan struct{} // closed when nothing of ours may go on

	stopOnce sync.Once
	started  sync.Once
	ready    chan struct{} // closed when the start-up work is done
	written  chan struct{} // closed when writeOutbox has ended

	lastHosted chan struct{} // closed when the last notification of hostedRoutes was accepted

	// Set by initialize, before any other message is handled.
	client  clientInfo
	notices []string // what to tell the person once it is allowed
}

func newServer(ctx context.Context, o Options) *server {
	s := &server{
		opts:       o,
		log:        o.Log.Named("lsp"),
		calls:      newCalls(o.MaxInFlight),
		outbox:     newOutbox(),
		folders:    newFolders(),
		exit:       make(chan struct{}),
		parentGone: make(chan struct{}),
		ready:      make(chan struct{}),
		stopped:    make(chan struct{}),
		written:    make(chan struct{}),
		lastHosted: make(chan struct{}),
	}
	close(s.lastHosted)
	s.documents = newDocuments(s.log)
	s.sessionDocs = newSessionDocs(s)
	s.transcripts = newShownTranscripts()
	s.progress = newProgresses(s)
	s.sessions = newSessions(s.log)
	s.routes = s.methods()
	s.work, s.endWork = context.WithCancelCause(context.WithoutCancel(ctx))
	return s
}

// stop ends the work of the server: requests are refused from now on, running
// ones get Drain to finish and, once cancelled, Grace to come back; then the
// sessions are closed. It returns when that is done, to every caller.
func (s *server) stop() {
	s.state.advance(phaseStopping)
	s.stopOnce.Do(func() {
		waitFor(s.calls.idle(), s.opts.Drain)
		s.endWork(errStopping)
		if !waitFor(s.calls.idle(), s.opts.Grace) {
			s.log.Warn("commands ignore their cancellation; leaving them behind")
		}
		s.sessions.close(s.opts.Grace)
	})
}

// start runs once, when the first message after the answer to initialize arrives:
// only then may the client be sent anything. It does not wait for initialized,
// which some clients never send.
func (s *server) start() {
	s.started.Do(func() {
		s.outbox.open()
		if s.client.textDocumentContent {
			go s.refreshTranscripts()
		}
		for _, text := range s.notices {
			s.showMessage(commands.LevelWarning, text)
		}
		if s.opts.Started == nil && !s.client.configuration {
			close(s.ready)
			return
		}
		s.runStarted()
	})
}

// runStarted runs the start-up work. It counts as a request without an id: it can
// report progress, and a server that stops waits for it.
func (s *server) runStarted() {
	c, ok := s.calls.begin(s.work, jsonrpc2.ID{})
	if !ok {
		s.log.Error("no room for the start-up work")
		close(s.ready)
		return
	}
	go func() {
		defer s.calls.end(c)
		defer s.progress.endAll(c)
		s.startUp(c.ctx)
		s.followConfiguration(c.ctx)
	}()
}

// startUp reads the client's configuration, which may not be asked for earlier, and does
// the start-up work by it.
func (s *server) startUp(ctx context.Context) {
	release := sync.OnceFunc(func() { close(s.ready) })
	defer release()
	defer s.recoverPanic("the start-up work")
	if s.client.configuration {
		s.configure(ctx, nil)
	}
	if s.opts.Started != nil {
		env := *s.config.envForStart()
		env.UI = startUI{clientUI{s}, release}
		s.opts.Started(ctx, &env)
	}
}

// startUI is the UI of the start-up work. A question that nobody answers must not keep the
// client's commands waiting, so they go on from the first question.
type startUI struct {
	clientUI
	release func()
}

func (ui startUI) Ask(ctx context.Context, q commands.Question) (int, error) {
	ui.release()
	return ui.clientUI.Ask(ctx, q)
}

// waitFor waits for ch at most d, and reports whether it was closed.
func waitFor(ch <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ch:
		return true
	case <-t.C:
		return false
	}
}
