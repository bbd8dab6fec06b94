package teamtest

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// ear is a listener. Its queue has a place for every session.
type ear struct {
	wake    chan struct{} // has an element if sids are waiting
	waiting []team.SID    // guarded by the server's mutex
}

// Tell implements [team.Store].
func (s *Store) Tell(ctx context.Context, sid team.SID, _ int64) {
	_ = s.locked(ctx, func(v *Server, _ *user) error { // listeners also poll
		for e := range v.ears {
			e.waiting = append(e.waiting, sid)
			select {
			case e.wake <- struct{}{}:
			default:
			}
		}
		return nil
	})
}

// Ear implements [team.Store].
func (s *Store) Ear(ctx context.Context, woken func(team.SID)) error {
	e := &ear{wake: make(chan struct{}, 1)}
	if err := s.locked(ctx, func(v *Server, _ *user) error { v.ears[e] = true; return nil }); err != nil {
		return err
	}
	defer func() {
		s.server.mu.Lock()
		defer s.server.mu.Unlock()
		delete(s.server.ears, e)
	}()
	for {
		select {
		case <-ctx.Done():
			return fault.New(fault.Cancelled, "The call to the team store was cancelled: %w.", ctx.Err())
		case <-e.wake:
		}
		s.server.mu.Lock()
		sids := e.waiting
		e.waiting = nil
		s.server.mu.Unlock()
		for _, sid := range sids {
			woken(sid)
		}
	}
}
