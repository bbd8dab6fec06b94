package agent

import (
	"context"
	"errors"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// veto stops a list of steps without being a failure: a hook said no. It never leaves the
// package.
type veto struct{ hook.Decision }

func (v veto) Error() string { return "agent: cancelled by " + v.String() }

// askHooks asks the hooks before something happens to the session. The error is a [veto].
func (s *Session) askHooks(ctx context.Context, e hook.Event) error {
	if d := s.m.hooks.Before(ctx, s.inSession(e)); d.Cancel {
		return veto{d}
	}
	return ctx.Err() // they may have taken their time
}

// tellHooks tells the hooks what has happened to the session.
func (s *Session) tellHooks(ctx context.Context, e hook.Event) { s.m.hooks.After(ctx, s.inSession(e)) }

// inSession is an event with the folder and the session that is live in it.
func (s *Session) inSession(e hook.Event) hook.Event {
	log := s.current()
	e.Cwd, e.SessionID, e.SessionFile = s.cwd, log.Header().ID, log.Path()
	return e
}

// refusal is the error of an operation for which err is the answer of the hooks. What, that
// which is not done, completes the sentence.
func refusal(err error, what string) error {
	if v, vetoed := errors.AsType[veto](err); vetoed {
		return fault.New(fault.Cancelled, "%s", v.Refusal(what))
	}
	return err
}
