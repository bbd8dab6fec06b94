package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/history"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// run is something that goes on in a session until it is over: a turn or a compaction. At
// most one does.
type run struct {
	cancel context.CancelFunc
	done   chan struct{}
	out    loop.Outcome // set before done is closed
}

// errRunning says that another run began first, or is not over yet. It never leaves the package.
var errRunning = errors.New("agent: something runs already")

// start begins a turn. Everything that can be known to fail fails before anything of the
// prompt is recorded. A prompt that waited in a session, if that is not nil, is not said in another
// one: when it was left meanwhile start is kind cancelled.
func (s *Session) start(ctx context.Context, in Input, waitedIn *session.Log) (r *run, err error) {
	err = s.exclusive(ctx, func() error {
		if s.isRunning() {
			return errRunning
		}
		log := s.current()
		if waitedIn != nil && waitedIn != log {
			return fault.New(fault.Cancelled, "The session was left before it was the prompt's turn; nothing was said.")
		}
		if err := s.prepare(ctx, log); err != nil {
			return err
		}
		if !s.queue.Start() {
			return errRunning
		}
		// Before the model is asked: a new session has no file until it answered.
		memory, p := s.remembered(log, in)
		mark := memory.Say(p)
		r = s.begin(log, func(ctx context.Context, r *run) {
			defer mark.Answered() // or given up, which the person was told
			s.turn(ctx, r, log, in, mark)
		})
		return nil
	})
	return r, err
}

// settle waits, for a prompt, until a run that takes no messages is over: a compaction, or a turn
// at its very end. It waits without the session's operations, so that the run can be stopped. It
// returns the session that it waited in, nil when there was nothing to wait for.
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

// begin runs work as the session's run. Until it is over the leaf is ours: what another program
// appends must not come between a tool call and its result.
func (s *Session) begin(log *session.Log, work func(context.Context, *run)) *run {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel: cancel, done: make(chan struct{})}
	log.Hold()
	s.recording.Lock() // a record that found nothing running is written first
	s.mu.Lock()
	s.run = r
	s.mu.Unlock()
	s.recording.Unlock()
	go func() {
		defer close(r.done)
		defer cancel()
		s.guard(r, func() { work(ctx, r) })
		s.recordHeld()
		// What was answered is durable before the end is.
		if err := log.Flush(); err != nil {
			s.emit(log, loop.Event{Type: loop.NotSaved, ErrorMessage: err.Error()})
		}
		log.Release() // behind the flush, which still meets lines of others
	}()
	return r
}

// guard lets a panic of work end the run and not the process, with every open session in it. What
// was queued is given back. It reports whether work panicked.
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

// prepare makes a session ready to be asked: it is ours to write, a model and a key are
// there, and both settings are recorded in a session that says nothing of them.
func (s *Session) prepare(ctx context.Context, log *session.Log) error {
	c, err := log.ContextState()
	if err != nil {
		return err
	}
	model, level, lost, err := s.choice(ctx, c)
	if err != nil {
		return err
	}
	if _, err := s.m.cfg.Models.Key(ctx, model); err != nil {
		return err
	}
	// After what else can be refused, because it leaves a directory for the locks behind.
	if err := log.Claim(); err != nil {
		return err
	}
	if lost != "" {
		s.emit(log, notice(lost))
	}
	if stored, ok := provider.ParseRef(c.Models["default"]); !ok || stored != model.Ref() {
		if _, err := log.AppendModel(model.Provider, model.ID, ""); err != nil {
			return err
		}
		s.emit(log, modelChanged(model.Ref(), ""))
	}
	_, err = s.level(log, c, model, level)
	return err
}

// turn is the work of a prompt.
func (s *Session) turn(ctx context.Context, r *run, log *session.Log, in Input, mark *history.Mark) {
	h := &host{s: s, log: log, mark: mark}
	now := s.m.now
	l := loop.Run{Host: h, Queue: &s.queue, Retry: s.m.cfg.Retry, Now: now}
	if !s.guard(r, func() { r.out = l.Do(ctx, []provider.Message{in.message(now().UnixMilli())}) }) {
		return
	}
	unanswered := r.unanswered()
	if len(unanswered) > 0 {
		h.Emit(loop.Event{Type: loop.QueueChanged})
	}
	h.Emit(loop.Event{Type: loop.AgentEnd, StopReason: r.out.StopReason, ErrorMessage: r.out.Err.Error(), Unanswered: unanswered})
}

// unanswered are the texts that are given back. Only for a run that is over.
func (r *run) unanswered() (texts []string) {
	for _, m := range r.out.Unanswered {
		texts = append(texts, m.PlainText())
	}
	return texts
}

// wait waits until a run is over. The end of ctx aborts it.
func (r *run) wait(ctx context.Context) {
	select {
	case <-r.done:
	case <-ctx.Done():
		r.cancel()
		<-r.done
	}
}

// stop aborts whatever runs, the person's commands too, and waits until it is over and recorded.
// The caller has the session's operations, so that nothing begins meanwhile.
func (s *Session) stop(ctx context.Context) error {
	if err := s.stopCommands(ctx); err != nil {
		return err
	}
	_, _, err := s.Abort(ctx)
	return err
}

// isRunning reports whether a turn or a compaction goes on.
func (s *Session) isRunning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run != nil
}
