package acp

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// conversation is one open session of the client: a live session of its own manager, and the state last
// sent to the client.
type conversation struct {
	s     *server
	id    string // of the session; set before the client receives it
	cwd   string
	log   *zap.Logger
	live  *agent.Session
	env   *commands.Env // for this conversation only
	shown *view         // converts its events to updates

	unsubscribe func()
	usable      atomic.Bool // updates may be sent to the client
	lasting     atomic.Bool // “always” is permanent; see optionApprovals

	sending sync.Mutex       // held while settings are read and sent, so that an older state is not sent after a newer one
	options string           // guarded by sending: the options last sent
	modeID  string           // guarded by sending
	offered []engine.Command // guarded by sending: the commands of the engine, as far as they are known
	models  []provider.Info  // guarded by sending: the models available when the session was opened, because detecting them is slow

	questions openQuestions // of the engine's extensions

	questionsAsked atomic.Int64 // about the set-up of the folder

	naming sync.Mutex
	title  string // guarded by naming: the title last sent

	asking sync.Mutex
	turn   *turn // the running prompt; guarded by asking
}

// open creates a conversation in the folder cwd. enter switches its live session, which is new, to the
// requested one.
func (s *server) open(ctx context.Context, p openParams, enter func(ctx context.Context, live *agent.Session) error) (c *conversation, err error) {
	cwd, err := s.folder(p.Cwd)
	if err != nil {
		return nil, err
	}
	s.ignored(p)
	c = &conversation{s: s, cwd: cwd, log: s.log}
	files := clientFiles{c: c, disk: s.opts.Backend.Disk}
	manager := s.opts.Backend.Sessions(Client{Cwd: cwd, Files: files, Texts: clientDocuments{files}, Approve: c.approve, CanAsk: s.canAsk, AskForm: c.askForm, Warn: c.warn, Pace: s.caughtUp, MCPServers: p.MCPServers})
	defer func() {
		if err != nil {
			if closeErr := manager.Close(context.WithoutCancel(ctx)); closeErr != nil {
				s.log.Warn("a session that was not opened was not closed cleanly", zap.Error(closeErr))
			}
		}
	}()
	if c.live, err = manager.Session(ctx, cwd); err != nil {
		return nil, err
	}
	if err := enter(ctx, c.live); err != nil {
		return nil, err
	}
	if name := s.opts.Engine; name != "" {
		if _, err := c.live.SetEngine(ctx, name); err != nil {
			return nil, err
		}
	}
	state, err := c.live.State()
	if err != nil {
		return nil, err
	}
	c.id = state.SessionID
	c.env = &commands.Env{
		Sessions: manager, Store: s.opts.Backend.Store, Finder: s.opts.Backend.Finder, Fs: s.opts.Backend.Fs, Workspace: files,
		UI: commands.Headless{}, Folders: func() []string { return []string{cwd} }, PDF: s.opts.Backend.PDF, Team: s.opts.Backend.Team, Log: s.log, AskTrust: c.askTrust,
	}
	c.shown = newView(s, c.id, cwd)
	c.shown.cost = state.Usage.Cost
	c.unsubscribe = manager.Subscribe(c.event)
	if err := s.add(c); err != nil {
		return nil, err
	}
	c.usable.Store(true)
	return c, nil
}

// add registers a conversation.
func (s *server) add(c *conversation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fault.New(fault.Cancelled, "The server is shutting down.")
	}
	s.conversations[c.id] = c
	return nil
}

// conversation returns the open session with this id.
func (s *server) conversation(id string) (*conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.conversations[id]; c != nil {
		return c, nil
	}
	return nil, fault.New(fault.NotFound, "Session %q is not open; load or resume it first.", fault.OneLine(id))
}

// opened returns the open conversations.
func (s *server) opened() []*conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.conversations))
}

// announce records that a session is announced as large. It returns false if it was before.
func (s *server) announce(id string) bool {
	_, before := s.large.LoadOrStore(id, true)
	return !before
}

// forget unregisters a conversation and reports whether it was registered.
func (s *server) forget(c *conversation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.conversations[c.id] == c
	delete(s.conversations, c.id)
	return known
}

// close stops the current turn, saves the session and releases it.
func (c *conversation) close(ctx context.Context) error {
	err := c.env.Sessions.Close(ctx)
	c.unsubscribe()
	if err != nil {
		c.log.Warn("a session was not closed cleanly", zap.String("session", c.id), zap.Error(err))
	}
	return err
}

// folder checks the working directory that a client sent.
func (s *server) folder(cwd string) (string, error) {
	if !filepath.IsAbs(cwd) || strings.ContainsRune(cwd, 0) {
		return "", fault.New(fault.InvalidArgument, "%q is not an absolute path.", cwd).With("field", "cwd")
	}
	cwd = filepath.Clean(cwd)
	info, err := s.opts.Backend.Fs.Stat(cwd)
	if err != nil || !info.IsDir() {
		return "", fault.New(fault.InvalidArgument, "%s is not a directory.", cwd).With("field", "cwd")
	}
	return cwd, nil
}

// ignored logs the requested features that the capabilities do not offer.
func (s *server) ignored(p openParams) {
	if n := len(p.Additional); n > 0 {
		s.log.Warn("additional directories are not supported and were ignored", zap.Int("directories", n))
	}
}

// warn shows the user a warning.
func (c *conversation) warn(text string) {
	c.log.Warn(text)
	if c.usable.Load() {
		c.shown.remark("warning", text)
	}
}

// event sends an event of the session to the client. It is called by one goroutine at a time and must
// neither block nor call back.
func (c *conversation) event(e agent.Event) {
	run, ok := e.(agent.RunEvent)
	if !ok || run.SessionID != c.id {
		return
	}
	switch e := run.Event.(type) {
	case event.ModelChanged, event.ThinkingLevelChanged:
		c.s.background.Go(func() { c.sendSettings(c.s.ctx) })
	case event.EngineChanged:
		c.engineChanged(e)
	case event.CommandsChanged:
		c.s.background.Go(func() { c.sendCommands(c.s.ctx) })
	case event.QuestionAsked:
		if e.From == "" { // the others are shown as whole forms
			c.question(e.Question)
		}
	case event.QuestionGone:
		c.questions.end(e.ID)
	default:
		c.shown.event(run.Event)
	}
}

// vetoed returns an error for a change that a hook refused.
func vetoed(out agent.Outcome, err error) error {
	if err == nil && !out.Changed {
		return fault.New(fault.Cancelled, "The session was not opened: cancelled by %s.", out.CancelledBy)
	}
	return err
}

// closeSession answers session/close. The running prompt was cancelled when the request arrived. How
// long it takes to stop depends on the tools. Until then the file is not opened again.
func (s *server) closeSession(_ context.Context, _ *call, p sessionParams) (any, []any, error) {
	c, err := s.conversation(p.SessionID)
	if err != nil {
		return nil, nil, err
	}
	if err := s.leave(c); err != nil {
		return nil, nil, err
	}
	return struct{}{}, nil, nil
}

// leave closes a conversation that another goroutine may be closing at the same time.
func (s *server) leave(c *conversation) error {
	if !s.forget(c) {
		return nil
	}
	return c.close(s.ctx)
}
