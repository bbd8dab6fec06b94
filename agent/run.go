package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// run is a running turn or compaction of a session. At
// most one does.
type run struct {
	cancel context.CancelFunc
	done   chan struct{}
	out    loop.Outcome // set before done is closed
}

// errRunning is returned if another run began first, or is not over yet. It never leaves the package.
var errRunning = errors.New("agent: a turn is already running")

// start begins a turn. All foreseeable failures happen before anything of the prompt is recorded.
// waitedIn, if not nil, is the session in which the prompt waited: if it is no longer the live one,
// start returns a Cancelled error, so that the prompt is not sent in another one.
func (s *Session) start(ctx context.Context, in Input, waitedIn *session.Log) (r *run, err error) {
	err = s.exclusive(ctx, func() error {
		if s.isRunning() {
			return errRunning
		}
		log := s.current()
		if waitedIn != nil && waitedIn != log {
			return fault.New(fault.Cancelled, "The session was closed before the queued prompt could be sent. Send it again.")
		}
		seat, err := s.hosted(ctx)
		if err != nil {
			return err
		}
		end, err := s.m.BeginShared(ctx, log.Path())
		if err != nil {
			return err
		}
		defer func() {
			if r == nil { // otherwise the end of the run calls it
				end()
			}
		}()
		if seat != nil {
			r, err = s.startHosted(ctx, log, in, seat, end)
			return err
		}
		if err := s.prepare(ctx, log); err != nil {
			return err
		}
		if err := s.preparePlan(log); err != nil {
			return err
		}
		if err := s.announceSetup(ctx, log); err != nil {
			return err
		}
		s.recoverBefore(ctx, log)
		s.tellHunks(log)
		if !s.queue.Start() {
			return errRunning
		}
		// Before the request to the model: a new session has no file until the first answer.
		message := in.message(s.m.now().UnixMilli())
		s.accept(log, in, message)
		memory, p := s.historyPrompt(log, in)
		memory.Add(p)
		r = s.begin(log, end, func(ctx context.Context, r *run) {
			defer s.accepted.runEnded(log)
			s.turn(ctx, r, log, message)
		})
		return nil
	})
	return r, err
}

// settle waits, for a prompt, until a run that takes no messages has ended: a compaction, or a turn
// at its very end. It waits without the session's operations, so that the run can be stopped. It
// returns the session in which it waited, nil if it did not have to wait.
func (s *Session) settle(ctx context.Context) (*session.Log, error) {
	s.mu.Lock()
	r, log := s.run, s.log
	s.mu.Unlock()
	if r == nil || s.queue.Running() {
		return nil, nil
	}
	select {
	case <-r.done:
		return log, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin runs work as the session's run. Until it ends the leaf does not follow external changes: entries of another
// program must not come between a tool call and its result. end, of [Manager.BeginShared], is called when all lines are written.
func (s *Session) begin(log *session.Log, end func(), work func(context.Context, *run)) *run {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel: cancel, done: make(chan struct{})}
	release := log.Hold()
	s.recording.Lock() // a record that found no running turn is written first
	s.mu.Lock()
	s.run = r
	s.mu.Unlock()
	s.recording.Unlock()
	go func() {
		defer close(r.done)
		defer cancel()
		defer end()
		s.guard(r, func() { work(ctx, r) })
		s.recordHeld()
		// The answer is flushed to disk before the run ends.
		if err := log.Flush(); err != nil {
			s.emit(log, event.NotSaved{ErrorMessage: err.Error()})
		}
		release() // after the flush, which still reads lines of other programs
		s.reportForeign()
		s.reportLarge()
		s.watchTitle(log)()
	}()
	return r
}

// guard lets a panic of work end the run and not the process, with every open session in it. Queued
// prompts are returned to the client. It reports whether work panicked.
func (s *Session) guard(r *run, work func()) (panicked bool) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		s.m.log.Error("a run failed unexpectedly", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
		steering, followUp := s.queue.Stop()
		r.out.StopReason, r.out.Err = provider.StopError, fmt.Errorf("the run failed unexpectedly: %v", p)
		r.out.Unanswered, panicked = append(steering, followUp...), true
	}()
	work()
	return false
}

// prepare makes a session ready for requests: the conversation is not too long for one, the session is ours
// to write, a model and a key are available, and both settings are recorded in a session without them.
func (s *Session) prepare(ctx context.Context, log *session.Log) error {
	c, err := log.ContextState()
	if err != nil {
		return err
	}
	if err := fits(c); err != nil {
		return err
	}
	return s.prepareFor(ctx, log, s.answering)
}

// prepareFor is prepare for requests to the model that pick returns.
func (s *Session) prepareFor(ctx context.Context, log *session.Log, pick picker) error {
	c, err := log.ContextState()
	if err != nil {
		return err
	}
	p, lost, err := pick(ctx, log, c)
	if err != nil {
		return err
	}
	if err := s.m.cfg.Models.CheckKey(p.model); err != nil {
		return err
	}
	return s.claim(ctx, log, c, lost)
}

// claim makes a session ours to write, and records the model and the thinking level of one without them.
func (s *Session) claim(ctx context.Context, log *session.Log, c session.ContextState, lost string) error {
	model, level, _, err := s.choice(ctx, log, c)
	if err != nil {
		return err
	}
	// Last of the steps that can fail, because it leaves a directory for the locks behind.
	if err := log.Claim(); err != nil {
		return err
	}
	s.ledgerOf(log).restore()
	if lost != "" {
		s.emit(log, notice(lost))
	}
	recorded := c.Models[defaultRole]
	if planning, err := isPlanning(log); err == nil && planning {
		recorded, _ = ownModel(log, c) // the answers name another one meanwhile
	}
	if stored, ok := provider.ParseRef(recorded); !ok || stored != model.Ref() {
		if _, err := log.AppendModel(model.Provider, model.ID, ""); err != nil {
			return err
		}
		s.emit(log, modelChanged(model.Ref(), ""))
	}
	_, err = s.level(log, c, model, level)
	return err
}

// turn is the work of a prompt.
func (s *Session) turn(ctx context.Context, r *run, log *session.Log, prompt provider.Message) {
	s.orient(ctx, log)
	h := &host{s: s, log: log, inTurn: true}
	defer h.ahead.drop()
	s.ledgerOf(log).turnBegan()
	h.loadRules(ctx)
	l := loop.Run{Host: planning{h}, Queue: &s.queue, Retry: h.retry(ctx), Now: s.m.now}
	lost, err := h.interrupted()
	if err != nil {
		s.m.log.Warn("calls that were interrupted cannot be found", zap.Error(err)) // their results stay missing
	}
	recordTitle := s.titling(ctx, log, prompt)
	panicked := s.guard(r, func() { r.out = l.Do(ctx, append(lost, prompt)) })
	recordTitle()
	if err := h.remind(); err != nil {
		s.m.log.Warn("a rule could not be recorded", zap.Error(err)) // it may match again
	}
	if !panicked {
		return
	}
	unanswered := r.unanswered()
	if len(unanswered) > 0 {
		h.Emit(event.QueueChanged{})
	}
	h.Emit(event.AgentEnd{StopReason: r.out.StopReason, ErrorMessage: r.out.Err.Error(), Unanswered: unanswered})
}

// unanswered are the texts that are returned. Only for a run that has ended.
func (r *run) unanswered() (texts []string) {
	for _, m := range r.out.Unanswered {
		texts = append(texts, m.Shown())
	}
	return texts
}

// wait waits until a run has ended. The end of ctx aborts it.
func (r *run) wait(ctx context.Context) {
	select {
	case <-r.done:
	case <-ctx.Done():
		r.cancel()
		<-r.done
	}
}

// stop aborts the current run, the user's commands and those in the background, and waits until they
// have ended and are recorded.
// The caller has the session's operations, so that nothing begins meanwhile.
func (s *Session) stop(ctx context.Context) error {
	if err := s.stopCommands(ctx); err != nil {
		return err
	}
	if _, _, err := s.Abort(ctx); err != nil {
		return err
	}
	if err := s.dismiss(ctx); err != nil {
		return err
	}
	return s.background.StopAll(ctx)
}

// isRunning reports whether a turn or a compaction is running.
func (s *Session) isRunning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run != nil
}
