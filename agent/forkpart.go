package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// ForkPart copies the path to one entry of the session at path into this folder and makes
// the copy the live one. With [session.Before] the text of the user message is returned.
// While a turn runs it is kind busy.
func (s *Session) ForkPart(ctx context.Context, path, entryID string, at session.Position) (text string, out Outcome, err error) {
	out, err = s.change(ctx, change{
		idle:   "forking",
		reason: ReasonFork, after: hook.Switch, adds: true,
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
