package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// run is something that goes on in a session until it is over: a turn or a compaction. At
// most one does.
type run struct {
	cancel context.CancelFunc
	done   chan struct{}
	out    loop.Outcome // set before done is closed
}

// errRunning says that another prompt began first. It never leaves the package.
var errRunning = errors.New("agent: a turn runs already")

// start begins a turn. Everything that can be known to fail fails before anything of the
// prompt is recorded.
func (s *Session) start(ctx context.Context, in Input) (r *run, err error) {
	err = s.exclusive(ctx, func() error {
		if err := s.settle(ctx); err != nil {
			return err
		}
		log := s.current()
		if err := s.prepare(ctx, log); err != nil {
			return err
		}
		if !s.queue.Start() {
			return errRunning
		}
		r = s.begin(log, func(ctx context.Context, r *run) { s.turn(ctx, r, log, in) })
		return nil
	})
	return r, err
}

// settle waits for a run that takes no messages any more but is not over.
func (s *Session) settle(ctx context.Context) error {
	s.mu.Lock()
	r := s.run
	s.mu.Unlock()
	if r == nil {
		return nil
	}
	if s.queue.Running() {
		return errRunning
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin runs work as the session's run.
func (s *Session) begin(log *session.Log, work func(context.Context, *run)) *run {
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel: cancel, done: make(chan struct{})}
	s.mu.Lock()
	s.run = r
	s.mu.Unlock()
	go func() {
		defer close(r.done)
		defer cancel()
		work(ctx, r)
		s.recordHeld(log)
		// What was answered is durable before the end is.
		if err := log.Flush(); err != nil {
			s.emit(log, loop.Event{Type: loop.NotSaved, ErrorMessage: err.Error()})
		}
	}()
	return r
}

// prepare makes a session ready to be asked: it is ours to write, a model and a key are
// there, and both settings are recorded in a session that says nothing of them.
func (s *Session) prepare(ctx context.Context, log *session.Log) error {
	c, _, err := log.Context()
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
func (s *Session) turn(ctx context.Context, r *run, log *session.Log, in Input) {
	h := &host{s: s, log: log}
	defer func() {
		if p := recover(); p != nil {
			s.m.log.Error("a turn failed unexpectedly", zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))
			s.queue.Stop()
			r.out.StopReason, r.out.Err = provider.StopError, fmt.Errorf("the turn failed unexpectedly: %v", p)
			h.Emit(loop.Event{Type: loop.AgentEnd, StopReason: provider.StopError, ErrorMessage: r.out.Err.Error()})
		}
	}()
	now := s.m.now
	l := loop.Run{Host: h, Queue: &s.queue, Retry: s.m.cfg.Retry, Now: now}
	r.out = l.Do(ctx, []provider.Message{in.message(now().UnixMilli())})
}

// stop aborts whatever runs and waits until it is over.
func (s *Session) stop(ctx context.Context) error {
	_, _, err := s.Abort(ctx)
	return err
}

// isRunning reports whether a turn or a compaction goes on.
func (s *Session) isRunning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run != nil
}
