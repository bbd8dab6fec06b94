package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/configured"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/hosting"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Engine describes the program that answers in the folder.
func (s *Session) Engine() engine.Status {
	s.mu.Lock()
	name, seat := s.engine.name, s.seat
	live := seat != nil && seat.Session() == s.log
	s.mu.Unlock()
	switch {
	case name == engine.Own:
		return engine.Status{Name: engine.Own, State: engine.Ready, Can: ownCan}
	case live && seat.Program().Name == name:
		status := seat.Status()
		if status.State == engine.Ready && s.isRunning() {
			status.State = engine.Running
		}
		return status
	default:
		return engine.Status{Name: name, State: engine.Known}
	}
}

// ownCan are the abilities of the loop of this program.
var ownCan = engine.Can{Steer: true, Branch: true, Compact: true, Images: true, Files: true, Permission: true, Models: true}

// SetEngine makes another engine answer in the folder, from the next prompt on. It returns a Busy error while a turn is running,
// and a NotFound error for an unknown engine. The name of the current one forgives its failures, so that it is started
// again. An ArgumentNeeded error with the field "fork" reports that the engine cannot continue the session in its file; see
// [Session.ForkFor].
func (s *Session) SetEngine(ctx context.Context, name string) (engine.Status, error) {
	return s.setEngine(ctx, name, false)
}

// SetPlainEngine is SetEngine for an engine that runs without the extensions of the user, until another one is set.
func (s *Session) SetPlainEngine(ctx context.Context, name string) (engine.Status, error) {
	return s.setEngine(ctx, name, true)
}

func (s *Session) setEngine(ctx context.Context, name string, plain bool) (engine.Status, error) {
	to := chosen{name: engine.Own}
	if name != engine.Own {
		var err error
		if to, err = s.m.findEngine(ctx, name); err != nil {
			return s.Engine(), err
		}
		to.plain = plain
	}
	err := s.idle(ctx, "changing the engine", func() error {
		if name != engine.Own && s.m.cfg.InMemory {
			return fault.New(fault.NotPersistent, "%s cannot answer in a session without a file.", name)
		}
		if name != engine.Own {
			if err := s.continuable(to.program); err != nil {
				return err
			}
		}
		if err := s.dismiss(ctx); err != nil {
			return err
		}
		s.mu.Lock()
		s.engine = to
		s.mu.Unlock()
		return nil
	})
	if err != nil {
		return s.Engine(), err
	}
	if _, err := s.hosted(ctx); err != nil {
		return s.Engine(), err
	}
	status := s.Engine()
	s.Report(event.EngineChanged{Engine: status.Name, Version: status.Version, State: string(status.State), Message: status.Message})
	return status, nil
}

// continuable returns an ArgumentNeeded error if a program cannot continue the live session in its file.
func (s *Session) continuable(p engine.Program) error {
	home, err := s.home(p)
	if err != nil {
		return err
	}
	return hosting.Continuable(s.current(), p, home)
}

// Engines lists the engines that are known: this program's own first.
func (m *Manager) Engines(ctx context.Context, folders []string) []engine.Program {
	own := []engine.Program{{Name: engine.Own}}
	if m.cfg.Programs == nil {
		return own
	}
	return append(own, m.cfg.Programs.List(ctx, folders)...)
}

// Commands lists the commands of the engine that a prompt can begin with.
func (s *Session) Commands(ctx context.Context) ([]engine.Command, error) {
	commands := []engine.Command{}
	_, err := s.withEngine(ctx, func(_ *session.Log, e engine.Engine) (err error) {
		commands, err = e.Commands(ctx)
		return err
	})
	return commands, err
}

// Models lists the models that the folder's engine offers.
func (s *Session) Models(ctx context.Context) (list []provider.Info, err error) {
	hosted, err := s.withEngine(ctx, func(_ *session.Log, e engine.Engine) (err error) {
		list, err = e.Models(ctx)
		return err
	})
	if !hosted {
		return configured.Models(s.Found(ctx), s.m.Models(ctx)), nil
	}
	return list, err
}
