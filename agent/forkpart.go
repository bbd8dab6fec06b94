package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// ForkPart copies the path to one entry of the session at path into this folder and makes
// the copy the live one. With [session.Before] the text of the user message is returned.
// Returns a Busy error while a turn is running.
func (s *Session) ForkPart(ctx context.Context, path, entryID string, at session.Position) (text string, out Outcome, err error) {
	out, err = s.change(ctx, replacement{
		needsIdle: true,
		reason:    ReasonFork, after: hook.Switch, adds: true,
		before: hook.Event{Name: hook.BeforeSwitch, Reason: "fork", TargetSessionFile: path},
		open: func() (log *session.Log, err error) {
			if s.m.cfg.InMemory {
				return nil, fault.New(fault.NotPersistent, "--fork requires session persistence")
			}
			log, text, err = s.m.cfg.Store.ForkPart(path, s.cwd, entryID, at)
			return log, err
		},
	})
	return text, out, err
}
