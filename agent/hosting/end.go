package hosting

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

// endWithin bounds the end of an engine in the background.
const endWithin = 15 * time.Second

// watch waits for the end of the engine.
func (s *Seat) watch(t *tenure) {
	<-t.engine.Done()
	s.finish(t)
}

// finish makes the session file ours again after the engine has ended. It returns when that is done, also if another caller did it.
func (s *Seat) finish(t *tenure) {
	t.end.Do(func() {
		s.asked.takeBack(t)
		s.mu.Lock()
		inRun := s.state == engine.Running
		s.mu.Unlock()
		s.takeBack(t, inRun)
		s.mu.Lock()
		if s.tenure == t {
			s.tenure = nil
			s.stopIdleLocked()
		}
		s.mu.Unlock()
		if err := t.engine.Err(); err != nil {
			s.failed(context.Background(), err)
		} else {
			s.become(engine.Known, "")
		}
		close(t.over)
	})
	<-t.over
}

// takeBack reads the last lines of the engine, and makes the session file ours again.
func (s *Seat) takeBack(t *tenure, inRun bool) {
	if err := t.file.back(inRun); err != nil {
		s.cfg.Log.Warn("a session that was lent cannot be read again", zap.String("path", s.cfg.Session.Path()), zap.Error(err))
	}
	s.cfg.Back()
}

// end ends an engine.
func (s *Seat) end(ctx context.Context, t *tenure) {
	if ctx.Err() != nil { // it ends all the same, and its file must be ours before anything else happens
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), endWithin)
		defer cancel()
	}
	if err := t.engine.Close(ctx); err != nil {
		s.cfg.Log.Warn("an engine was not ended cleanly", zap.String("engine", s.cfg.Program.Name), zap.Error(err))
	}
}

// dismiss ends an engine and returns when the session file is ours again. The caller has the turn.
func (s *Seat) dismiss(ctx context.Context, t *tenure) error {
	s.end(ctx, t)
	s.finish(t)
	return nil
}

// Close ends the engine, if it runs, so that the session file is ours. The next use starts it again. A run must have ended.
func (s *Seat) Close(ctx context.Context) error {
	if s.serving() == nil {
		return nil
	}
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-s.turn }()
	t := s.serving()
	if t == nil {
		return nil
	}
	return s.dismiss(ctx, t)
}

// Shut is Close for the last time: the engine is not started any more.
func (s *Seat) Shut(ctx context.Context) error {
	s.mu.Lock()
	s.shut = true
	s.mu.Unlock()
	return s.Close(ctx)
}
