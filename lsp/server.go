package lsp

import (
	"context"
	"sync"
	"time"

	"go.lsp.dev/jsonrpc2"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/memory"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/lsp/sessiondoc"
)

// server is one connection to one client.
type server struct {
	opts   Options
	log    *zap.Logger
	conn   *conn.Conn
	routes map[string]route

	state       state
	calls       *conn.Calls
	memory      *memory.Keeper
	room        room
	progress    *progresses
	folders     *folders
	documents   *Documents
	sessions    *sessions
	sessionDocs *sessiondoc.Docs
	transcripts *shownTranscripts
	follows     *commands.Follows
	pending     *pendingChanges
	reviewer    Reviewer // set by initialize
	config      configuration
	branches    branchQuestions
	questions   engineQuestions
	formless    formless
	saving      chan struct{} // holds a value while edits are saved

	// work is the parent of every request's context; endWork cancels it.
	work    context.Context //nolint:containedctx // it is the life of the server, which is this struct
	endWork context.CancelCauseFunc

	exit       chan struct{} // closed by the exit notification
	exitOnce   sync.Once
	parentGone chan struct{} // closed when the client's process is gone
	parentOnce sync.Once
	stopped    chan struct{} // closed when all goroutines must end

	stopOnce sync.Once
	started  sync.Once
	ready    chan struct{} // closed when the start-up work is done

	lastHosted chan struct{} // closed when the last notification of hostedRoutes was accepted

	// Set by initialize, before any other message is handled.
	client  clientInfo
	senses  *clientSenses
	keys    *clientKeys // nil if the client keeps no keys
	notices []string    // messages to show once the client accepts them
}

func newServer(ctx context.Context, o Options) *server {
	s := &server{
		opts:       o,
		log:        o.Log.Named("lsp"),
		calls:      conn.NewCalls(o.MaxInFlight),
		room:       newRoom(),
		folders:    newFolders(),
		exit:       make(chan struct{}),
		parentGone: make(chan struct{}),
		ready:      make(chan struct{}),
		stopped:    make(chan struct{}),
		lastHosted: make(chan struct{}),
		saving:     make(chan struct{}, 1),
	}
	close(s.lastHosted)
	s.memory = memory.New(memory.Config{Clock: o.Clock, Free: o.FreeMemory, Busy: func() bool { return s.conn.Unread() > muchUnread }})
	s.documents = newDocuments(s.log)
	s.senses = &clientSenses{s: s, off: map[string]bool{}}
	s.transcripts = newShownTranscripts()
	s.pending, s.reviewer = newPendingChanges(s), sessionReviewer{s}
	s.progress = newProgresses(s)
	s.sessions = newSessions(s.log)
	s.work, s.endWork = context.WithCancelCause(context.WithoutCancel(ctx))
	s.follows = commands.NewFollows(s.work, s.followedChanged)
	s.sessionDocs = sessiondoc.New(s.sessionDocHost())
	s.routes = s.methods()
	return s
}

// muchUnread is the number of bytes of unread answers above which it is too early to give memory back.
const muchUnread = 1 << 20

// stop ends the work of the server: requests are refused from now on, running ones get Drain to finish
// and, once cancelled, Grace to return; then the sessions are closed. Every caller waits until that
// is done.
func (s *server) stop() {
	s.state.advance(phaseStopping)
	s.stopOnce.Do(func() {
		waitFor(s.calls.Idle(), s.opts.Drain)
		s.endWork(conn.ErrStopping)
		if !waitFor(s.calls.Idle(), s.opts.Grace) {
			s.log.Warn("commands ignore their cancellation; leaving them behind")
		}
		followed := make(chan struct{})
		go func() {
			defer close(followed)
			s.follows.Close()
		}()
		waitFor(followed, s.opts.Grace)
		s.sessions.close(s.opts.Grace)
		s.memory.Close()
	})
}

// start runs once, when the first message after the answer to initialize arrives. The protocol forbids
// sending anything before. It does not wait for initialized, which some clients never send.
func (s *server) start() {
	s.started.Do(func() {
		s.conn.OpenNotifications()
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

// runStarted runs the start-up work. It counts as a request without an id, so that it can report
// progress and a stopping server waits for it.
func (s *server) runStarted() {
	c, ok := s.calls.Begin(s.work, jsonrpc2.ID{}, false)
	if !ok {
		s.log.Error("no room for the start-up work")
		close(s.ready)
		return
	}
	go func() {
		defer s.calls.End(c)
		defer s.memory.Begin()()
		defer s.progress.endAll(c)
		s.startUp(c.Context())
		s.followConfiguration(c.Context())
	}()
}

// startUp requests the client's configuration, which is not possible earlier, and does the start-up
// work with it.
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

// startUI is the UI of the start-up work. It lets the client's commands run from the first question on,
// so that an unanswered question does not block them.
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
