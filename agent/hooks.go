package agent

import (
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// veto stops a list of steps because a hook refused; it is not a failure. It never leaves the
// package.
type veto struct{ hook.Decision }

func (v veto) Error() string { return "agent: cancelled by " + v.String() }

// askHooks asks the hooks before something happens to the session. The error is a [veto].
func (s *Session) askHooks(ctx context.Context, e hook.Event) error {
	if d := s.m.hooks.Before(ctx, s.inSession(e)); d.Cancel {
		return veto{d}
	}
	return ctx.Err() // hooks may take long
}

// notifyHooks notifies the hooks of a change of the session.
func (s *Session) notifyHooks(ctx context.Context, e hook.Event) {
	s.m.hooks.After(ctx, s.inSession(e))
}

// inSession is an event with the folder and the session that is live in it.
func (s *Session) inSession(e hook.Event) hook.Event {
	log := s.current()
	e.Cwd, e.SessionID, e.SessionFile = s.cwd, log.Header().ID, log.Path()
	return e
}

// refusal is the error of an operation for which err is the answer of the hooks. what names the
// operation and completes the sentence.
func refusal(err error, what string) error {
	if v, vetoed := errors.AsType[veto](err); vetoed {
		return fault.New(fault.Cancelled, "%s", v.Refusal(what))
	}
	return err
}
