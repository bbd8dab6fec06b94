package agent

import (
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// addEntries adds entries of a hook to the session that it was called for, as children of the leaf and in
// their order. While a turn or a compaction is running they wait for its end, because nothing may come
// between a tool call and its result; a failure is then an event. It implements [hook.Add].
//
// Differs: pi appends custom entries at once, and custom messages at the end of the turn.
func (m *Manager) addEntries(ctx context.Context, e hook.Event, _ string, entries []hook.Entry) error {
	s := m.Live(e.Cwd)
	if s == nil {
		return fault.New(fault.Stale, "The session of %s has ended.", e.Cwd)
	}
	log := s.current()
	if log.Header().ID != e.SessionID {
		return fault.New(fault.Stale, "The session %s is no longer open in %s.", e.SessionID, e.Cwd)
	}
	end, err := m.BeginShared(ctx, log.Path())
	if err != nil {
		return err
	}
	if err := log.Claim(); err != nil { // while the error can still be reported to the hook
		end()
		return err
	}
	done := make(chan error, 1)
	s.record(func(held bool) {
		defer end()
		err := s.writeEntries(log, entries)
		if err == nil && !held { // at the end of a run the file is flushed anyway
			err = log.Flush()
		}
		if err != nil && held {
			s.emit(log, event.NotSaved{ErrorMessage: err.Error()})
		}
		done <- err
	})
	select {
	case err := <-done:
		return err
	default: // the entries wait
		return nil
	}
}

// writeEntries appends entries and publishes those that are messages. Entries that cannot be saved stay
// in memory, like all others.
func (s *Session) writeEntries(log *session.Log, entries []hook.Entry) error {
	var errs []error
	dialect := dialectOf(log)
	for _, e := range entries {
		if e.Type == hook.Custom {
			_, err := log.Append(session.DraftCustom(e.CustomType, e.Data))
			errs = append(errs, err)
			continue
		}
		id, err := log.Append(session.DraftCustomMessage(dialect, session.Custom{
			CustomType: e.CustomType, Content: e.Content, Display: e.Display, Details: e.Details,
		}))
		errs = append(errs, err)
		if id == "" {
			continue
		}
		message := new(rawjson.Object).String("role", "custom").String("customType", e.CustomType).Raw("content", e.Content).
			Raw("display", boolean(e.Display)).Raw("details", e.Details).Raw("timestamp", number(s.m.now().UnixMilli())).Bytes()
		s.emit(log, event.MessageStart{Message: message})
		s.emit(log, event.MessageEnd{Message: message, EntryID: id})
	}
	return errors.Join(errs...)
}

// dialectOf returns the program whose form the entries of a session have.
func dialectOf(log *session.Log) (d session.Dialect) {
	_ = log.View(func(doc *session.Document, _ session.Leaf) error {
		d = doc.Dialect()
		return nil
	})
	return d
}
