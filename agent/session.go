package agent

import (
	"context"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Session ("AgentSession") is the live conversation of one working directory. Which
// session file that is changes with Switch, New and Fork. It is safe for concurrent use.
type Session struct {
	cwd string
	m   *Manager
	ops chan struct{} // one slot: the turn to change something

	mu    sync.Mutex
	log   *session.Log // guarded by mu
	ended bool         // guarded by mu
}

// Cwd returns the working directory, cleaned.
func (s *Session) Cwd() string { return s.cwd }

func (s *Session) current() *session.Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log
}

// State describes the session as it stands.
func (s *Session) State() (State, error) {
	state, err := stateOf(s.cwd, s.current())
	state.TerminalID = s.m.cfg.TerminalID
	return state, err
}

// File returns the session's file, "" for a session in memory.
func (s *Session) File() string { return s.current().Path() }

// Persistent reports whether the session has a file to live in.
func (s *Session) Persistent() bool { return s.current().Persistent() }

// View calls f with the session as it stands. f must not keep d or call back.
func (s *Session) View(f func(d *session.Document, leaf session.Leaf) error) error {
	return s.current().View(f)
}

// Context builds the context of the current leaf.
func (s *Session) Context() (session.Context, []session.Problem, error) {
	return s.current().Context()
}

// exclusive runs f while no other operation changes the session.
func (s *Session) exclusive(ctx context.Context, f func() error) error {
	select {
	case s.ops <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-s.ops }()
	if s.isEnded() {
		return fault.New(fault.Stale, "The session of %s was closed.", s.cwd)
	}
	return f()
}

func (s *Session) isEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

func (s *Session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// changed publishes that the live session is another one, or that its leaf moved.
func (s *Session) changed(reason Reason, previous string) {
	id := s.current().Header().ID
	s.m.publish(SessionChanged{Cwd: s.cwd, SessionID: id, Seq: s.m.nextSeq(id), Reason: reason, PreviousSessionFile: previous})
}

// Rename names the live session.
func (s *Session) Rename(ctx context.Context, title string) error {
	return s.exclusive(ctx, func() error {
		_, err := s.current().SetTitle(session.Title{Text: title, Source: "user"})
		if err == nil {
			s.m.publish(SessionsChanged{Cwd: s.cwd})
		}
		return err
	})
}

// Label labels an entry; an empty text clears the label. It returns the id of the
// entry that records it.
func (s *Session) Label(ctx context.Context, entryID, text string) (id string, err error) {
	err = s.exclusive(ctx, func() error {
		id, err = s.current().SetLabel(entryID, text)
		return err
	})
	return id, err
}

// Branch moves the leaf within the file. A user message or an extension's message is
// left again: the leaf becomes its parent and its text is returned, to be edited and
// sent anew. An empty id moves before the first entry. With a summary, that is
// appended at the new leaf; without one the file does not change.
func (s *Session) Branch(ctx context.Context, entryID, summary string) (editorText string, err error) {
	err = s.exclusive(ctx, func() error {
		log := s.current()
		target, text, err := branchTarget(log, entryID)
		if err != nil {
			return err
		}
		if s.m.hooks.Before(ctx, hook.Event{Name: hook.BeforeTree, Cwd: s.cwd, EntryID: entryID}) {
			return fault.New(fault.Cancelled, "A hook cancelled the change of branch.")
		}
		switch {
		case summary != "":
			_, err = log.BranchWithSummary(target, summary)
		case target == "":
			log.ResetLeaf()
		default:
			err = log.Branch(target)
		}
		if err != nil {
			return err
		}
		editorText = text
		s.m.hooks.After(ctx, hook.Event{Name: hook.Tree, Cwd: s.cwd, EntryID: entryID})
		s.changed(ReasonTree, log.Path())
		return nil
	})
	return editorText, err
}

// branchTarget returns the entry that becomes the leaf, "" for before the first, and
// the text that goes back to the editor.
func branchTarget(log *session.Log, entryID string) (target, text string, err error) {
	if entryID == "" {
		return "", "", nil
	}
	err = log.View(func(d *session.Document, _ session.Leaf) error {
		i, err := d.Index(entryID)
		if err != nil {
			return err
		}
		e, err := d.Entry(i)
		if err != nil {
			return err
		}
		switch {
		case e.Role() == "user":
			text = session.MessageText(e.Message())
		case e.Type == session.TypeCustomMessage:
			text = session.MessageText(e.Raw)
		default:
			target = entryID
			return nil
		}
		if p := d.Parent(i); p >= 0 {
			parent, err := d.Entry(p)
			if err != nil {
				return err
			}
			target = parent.ID
		}
		return nil
	})
	return target, text, err
}

// shutdown ends the session. It waits for a running operation.
func (s *Session) shutdown(ctx context.Context) error {
	return s.exclusive(ctx, func() error {
		log := s.current()
		s.m.hooks.After(ctx, hook.Event{Name: hook.Shutdown, Cwd: s.cwd, PreviousSessionFile: log.Path()})
		err := log.Close()
		s.end()
		s.changed(ReasonShutdown, log.Path())
		if err != nil {
			s.m.log.Error("session was not saved completely", zap.String("path", log.Path()), zap.Error(err))
		}
		return err
	})
}
