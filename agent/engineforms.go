package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Programs is the catalog of the engines, nil if there is none.
func (m *Manager) Programs() engine.Catalog { return m.cfg.Programs }

// ForkFor copies the live session into a new one in the form of a program that cannot continue it in its file, where that program
// keeps its sessions, and makes the copy the live one. The engine of the folder stays what it is; see [Session.SetEngine]. Returns a
// Busy error while a turn is running.
func (s *Session) ForkFor(ctx context.Context, name string) (Outcome, error) {
	to, err := s.m.findEngine(ctx, name)
	if err != nil {
		return Outcome{}, err
	}
	form, native := to.program.Native()
	if !native {
		return Outcome{}, fault.New(fault.InvalidArgument, "%s keeps no sessions of its own, so that it needs no fork.", name).With("field", "fork")
	}
	dir, err := s.newFilesDir(to.program)
	if err != nil {
		return Outcome{}, err
	}
	return s.change(ctx, replacement{
		needsIdle: true, copiesLive: true,
		reason: ReasonFork, after: hook.Switch, adds: true,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "fork"},
		open: func() (*session.Log, error) {
			log := s.current()
			if !log.Persistent() {
				return nil, fault.New(fault.NotPersistent, "Fork failed (session not persisted or cancelled)")
			}
			return s.m.cfg.Store.ForkInto(log.Path(), session.Into{Program: form, Dir: dir, Cwd: s.cwd, LeafID: log.LeafID()})
		},
	})
}
