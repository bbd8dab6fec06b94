package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Describe describes the live session; an empty text takes the description away. It returns
// the text as it was stored; see [session.Log.SetDescription].
func (s *Session) Describe(ctx context.Context, text string) (stored string, err error) {
	err = s.exclusive(ctx, func() error {
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
// A session in which nothing was said is kind notFound: the terminal programs take any file
// for a conversation. While a turn or a command of the person runs, a session in memory is
// kind busy: what comes of it would be recorded in what was left.
func (s *Session) Save(ctx context.Context) error {
	return s.exclusive(ctx, func() error {
		log := s.current()
		if err := somethingSaid(log); err != nil {
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

// somethingSaid is kind notFound for a session without messages.
func somethingSaid(log *session.Log) error {
	return log.View(func(d *session.Document, _ session.Leaf) error {
		for i := range d.Len() {
			if d.Role(i) != "" {
				return nil
			}
		}
		return fault.New(fault.NotFound, "Nothing was said in this session yet; there is nothing to save.")
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
	s.log = kept
	s.mu.Unlock()
	s.leaveBreadcrumb(kept.Path())
	return err
}

// runsCommands reports whether a command of the person goes on.
func (s *Session) runsCommands() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.commands) > 0
}
