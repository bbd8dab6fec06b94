package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Describe describes the live session; an empty text removes the description. It returns the stored
// text; see [session.Log.SetDescription].
func (s *Session) Describe(ctx context.Context, text string) (stored string, err error) {
	err = s.writing(ctx, func() error {
		if err := s.ownFile(ctx, "describing it"); err != nil {
			return err
		}
		if stored, err = s.current().SetDescription(text); err == nil {
			s.m.publish(SessionsChanged{Cwd: s.cwd})
		}
		return err
	})
	return stored, err
}

// Save makes the live session durable: all of it is in its file, which is synced, when Save
// returns, also if no model has answered yet. A session in memory gets a file, with the
// same id, and is written from then on as any other is.
//
// Returns a NotFound error for a session without messages: the terminal programs treat every
// file as a conversation. Returns a Busy error for an in-memory session while a turn or a
// command of the user is running: its result would be recorded in the abandoned session.
func (s *Session) Save(ctx context.Context) error {
	return s.exclusive(ctx, func() error {
		if err := s.ownFile(ctx, "saving it"); err != nil {
			return err
		}
		log := s.current()
		if err := checkHasMessages(log); err != nil {
			return err
		}
		was := log.OnDisk()
		err := s.putOnDisk(log)
		if !was && s.current().OnDisk() {
			s.m.publish(SessionsChanged{Cwd: s.cwd})
		}
		return err
	})
}

// checkHasMessages returns a NotFound error for a session without messages.
func checkHasMessages(log *session.Log) error {
	return log.View(func(d *session.Document, _ session.Leaf) error {
		for i := range d.Len() {
			if d.Role(i) != "" {
				return nil
			}
		}
		return fault.New(fault.NotFound, "The session has no messages yet, so there is nothing to save.")
	})
}

func (s *Session) putOnDisk(log *session.Log) error {
	if !log.Persistent() {
		return s.keep(log)
	}
	if err := log.EnsureOnDisk(); err != nil {
		return err
	}
	return log.Flush()
}

// keep makes the session in memory log one with a file.
func (s *Session) keep(log *session.Log) error {
	if s.isRunning() || s.runsCommands() {
		return errBusy("saving a session in memory")
	}
	kept, err := s.m.cfg.Store.Keep(log)
	if kept == nil {
		return err
	}
	s.mu.Lock()
	s.log, s.requests = kept, remembered{}
	if s.ledger != nil {
		s.ledger = s.ledger.movedTo(kept)
	}
	s.mu.Unlock()
	s.leaveBreadcrumb(kept.Path())
	return err
}

// runsCommands reports whether a command of the user is running.
func (s *Session) runsCommands() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.commands) > 0
}
