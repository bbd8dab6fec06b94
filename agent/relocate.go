package agent

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// MoveTo makes the live session one of the directory toCwd: its file moves there, it is
// the live session of that folder, at the same leaf, and this folder gets a new one. It
// returns the moved session's state. When anything fails, or a hook of either folder
// refuses (a Cancelled error), the session is live here again, at its leaf.
//
// Returns a NotFound error for a session without messages, which has no file, and a
// NotPersistent error for an in-memory session. For the rest see [upkeep.Relocate].
func (s *Session) MoveTo(ctx context.Context, toCwd string) (state State, err error) {
	if !s.Persistent() {
		return State{}, fault.New(fault.NotPersistent, "Cannot move an in-memory session")
	}
	// Asked before a session is made for a folder that may not exist.
	if _, err := upkeep.Destination(s.m.cfg.Store, s.File(), toCwd); err != nil {
		return State{}, err
	}
	there, err := s.m.Session(ctx, toCwd)
	if err != nil {
		return State{}, err
	}
	if there == s {
		return s.fileHere(ctx)
	}
	err = idleBoth(ctx, s, there, func() error {
		to, err := upkeep.Destination(s.m.cfg.Store, s.File(), toCwd)
		if err != nil {
			return err
		}
		release, err := s.m.reserve(s.File(), s)
		if err != nil {
			return err
		}
		defer release()
		m := &moving{departure: s.departure(), to: to}
		m.arrival = transition{s: there, old: there.current(), replacement: s.m.arriving(to)}
		if err := m.run(ctx, m.steps(), "the move"); err != nil {
			return err
		}
		m.announce()
		m.arrival.announce()
		s.m.sessionsChanged(s.cwd, there.cwd)
		state, err = there.State()
		return err
	})
	return state, err
}

// arriving is the change of a folder to the session that was moved to path.
func (m *Manager) arriving(path string) replacement {
	return replacement{
		reason: ReasonResume, after: hook.Switch,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "resume", TargetSessionFile: path},
		open:   func() (*session.Log, error) { return m.openFile(path) },
	}
}

// fileHere is MoveTo for a session of another directory that was opened in this folder.
func (s *Session) fileHere(ctx context.Context) (state State, err error) {
	err = s.idle(ctx, "moving it", func() error {
		d := s.departure()
		to, err := upkeep.Destination(s.m.cfg.Store, d.old.Path(), s.cwd)
		if err != nil {
			return err
		}
		if d.old.Path() == to && d.old.Header().Cwd == s.cwd {
			return nil
		}
		d.replacement = s.m.arriving(to)
		m := &moving{departure: d, to: to}
		m.arrival.s = s
		if err := m.run(ctx, m.stepsHere(), "the move"); err != nil {
			return err
		}
		m.announce()
		s.m.sessionsChanged(s.cwd, m.old.Header().Cwd)
		return nil
	})
	if err != nil {
		return State{}, err
	}
	return s.State()
}

// idleBoth is idle for two sessions. The order does not depend on the caller, so
// that two sessions that move into each other's folders do not wait for ever.
func idleBoth(ctx context.Context, a, b *Session, f func() error) error {
	if a.cwd > b.cwd {
		a, b = b, a
	}
	return a.idle(ctx, "moving a session", func() error { return b.idle(ctx, "moving a session", f) })
}

// moving is one move in progress: a departure here and an arrival there.
type moving struct {
	departure
	arrival transition
	to      string
}

func (m *moving) steps() []step {
	return append(m.leave(
		step{name: "ask hooks of the other folder", do: m.arrival.askHooks},
		step{name: "stop the user's commands there", do: m.arrival.s.stopCommands},
		step{name: "flush the other folder's session", do: m.arrival.flushOld},
	),
		step{name: "move the file", do: m.moveFile, undo: m.moveFileBack},
		step{name: "open it there", do: m.openThere, undo: m.arrival.closeTarget},
		step{name: "build its context", do: m.arrival.buildContext},
		step{name: "make it live there", do: m.arrival.activate, undo: m.arrival.reactivate},
		step{name: "notify hooks", do: m.notifyBoth},
	)
}

// notifyBoth is one step: after a notification nothing can be undone.
func (m *moving) notifyBoth(ctx context.Context) error {
	return errors.Join(m.notifyHooks(ctx), m.arrival.notifyHooks(ctx))
}

// stepsHere are the steps of a move into the folder that the session is live in.
func (m *moving) stepsHere() []step {
	return []step{
		{name: "ask hooks", do: m.askHooks},
		{name: "stop the user's commands", do: m.s.stopCommands},
		{name: "save the session", do: m.save},
		{name: "close the session", do: m.closeOld, undo: m.comeBack},
		{name: "move the file", do: m.moveFile, undo: m.moveFileBack},
		{name: "open it again", do: m.openHere, undo: m.closeTarget},
		{name: "build its context", do: m.buildContext},
		{name: "make it the live session", do: m.activate, undo: m.reactivate},
		{name: "notify hooks", do: m.notifyHooks},
	}
}

func (m *moving) moveFile(context.Context) error {
	return upkeep.Refile(m.s.m.cfg.Store, m.old.Path(), m.to, m.arrival.s.cwd)
}

func (m *moving) moveFileBack() error {
	return upkeep.Refile(m.s.m.cfg.Store, m.to, m.old.Path(), m.old.Header().Cwd)
}

func (m *moving) openHere(ctx context.Context) error {
	if err := m.openTarget(ctx); err != nil {
		return err
	}
	m.restoreLeaf(m.new)
	return nil
}

func (m *moving) openThere(ctx context.Context) error {
	if err := m.arrival.openTarget(ctx); err != nil {
		return err
	}
	m.restoreLeaf(m.arrival.new)
	return nil
}

// Relocate moves the session at path to the directory toCwd, for the folder cwd, and
// returns its state. The folder's live session is moved by [Session.MoveTo]; one that
// is live in another folder is a Busy error.
func (m *Manager) Relocate(ctx context.Context, cwd, path, toCwd string) (State, error) {
	live, release, err := m.take(filepath.Clean(cwd), path)
	if err != nil {
		return State{}, err
	}
	defer release()
	if live != nil {
		return live.MoveTo(ctx, toCwd)
	}
	belongs, toCwd := m.belongsTo(path), filepath.Clean(toCwd)
	moved, err := upkeep.Relocate(m.cfg.Store, path, toCwd)
	if err != nil {
		return State{}, err
	}
	m.wrote(path)
	m.wrote(moved)
	m.sessionsChanged(belongs, toCwd)
	log, err := m.cfg.Store.Open(moved)
	if err != nil {
		return State{}, err
	}
	state, err := stateOf(toCwd, log)
	return state, errors.Join(err, log.Close())
}
