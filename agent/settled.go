package agent

import (
	"context"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// openFile opens the session at path, which the caller closes. If it is large and changed since it was indexed, its
// bytes are compared while it is used already. If they are others, the folder that shows it is notified.
func (m *Manager) openFile(path string) (*session.Log, error) {
	log, err := m.cfg.Store.Open(path)
	if err != nil {
		return nil, err
	}
	m.wrote(log.Path())
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.settles.Go(func() { m.settle(log) })
	}
	return log, nil
}

// settle waits until the file of log is known, or log is closed.
func (m *Manager) settle(log *session.Log) {
	replaced, err := log.Settled(context.Background())
	if err != nil {
		m.log.Warn("a session that changed cannot be read again", zap.String("path", log.Path()), zap.Error(err))
	}
	if !replaced && err == nil {
		return
	}
	for _, s := range m.all() {
		if s.current() == log { // otherwise, nothing of it was shown yet
			s.changed(ReasonReload, log.Path())
			s.reportForeign()
		}
	}
}

// awaitSettled waits for the ends of settle, whose sessions are closed, or of ctx: a file system may hang.
func (m *Manager) awaitSettled(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.settles.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Settled waits until all that is known of the live session is certain. Until then only its newest context can be shown.
// It fails only if ctx ends first. If the file turns out to be another one that cannot be read, what shows or changes
// the session fails with the reason.
func (s *Session) Settled(ctx context.Context) error {
	if _, err := s.current().Settled(ctx); err != nil {
		return ctx.Err()
	}
	return nil
}
