package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Rename names the live session.
func (s *Session) Rename(ctx context.Context, title string) error {
	return s.writing(ctx, func() error {
		log := s.current()
		report := s.watchTitle(log)
		err := s.retitle(ctx, log, title)
		report()
		if err == nil {
			s.m.publish(SessionsChanged{Cwd: s.cwd})
		}
		return err
	})
}

// retitle changes the title of the live session, in the program that has the file or else in the file.
func (s *Session) retitle(ctx context.Context, log *session.Log, title string) error {
	if _, done, err := s.annotate(ctx, engine.Annotation{Title: title}, "renaming it"); done || err != nil {
		return err
	}
	_, err := log.SetTitle(session.Title{Text: title, Source: "user"})
	return err
}

// watchTitle returns a function that publishes the title of the session that log is, if it
// changed since clients last read it: another program may have renamed the session at any
// time.
func (s *Session) watchTitle(log *session.Log) (report func()) {
	e := s.emitter(log.Header().ID) // from here on it knows the title
	return func() {
		if title := titleIn(log); e.retitle(title) {
			e.emit(event.SessionInfoChanged{Name: title})
		}
	}
}

// retitle records the title that clients will know, and reports whether it is another one.
func (e *emitter) retitle(title string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	changed := e.title != title
	e.title = title
	return changed
}

// titleIn returns the title of a session.
func titleIn(log *session.Log) (title string) {
	_ = log.View(func(d *session.Document, _ session.Leaf) error {
		title = d.Title().Text
		return nil
	})
	return title
}
