package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Leaving are the arguments of a command that leaves the folder's session, and with it a running turn.
type Leaving struct {
	OnRunning string `json:"onRunning,omitempty" jsonschema:"What to do if a turn is running: ask, stop or fail. Default: ask. A client that cannot ask gets the busy error of fail."`
}

// The values of [Leaving.OnRunning]; "" is askFirst.
const (
	askFirst  = "ask"
	stopFirst = "stop"
	failFirst = "fail"
)

// checkLeaving checks the argument.
func (l Leaving) checkLeaving() error {
	switch l.OnRunning {
	case "", askFirst, stopFirst, failFirst:
		return nil
	}
	return fault.New(fault.InvalidArgument, "onRunning must be ask, stop or fail, not %q.", l.OnRunning).With("field", "onRunning")
}

// mayLeave returns nil if the live session may be left: no turn is running, or the call or the user wants it to be stopped. The turn is
// not stopped yet, so that one goes on if the command fails. doing completes the message of the Busy error.
func (l Leaving) mayLeave(ctx context.Context, env *Env, live *agent.Session, doing string) error {
	busy := live.CheckIdle(doing)
	if busy == nil || l.OnRunning == stopFirst {
		return nil
	}
	if l.OnRunning == failFirst {
		return busy
	}
	kept := fault.New(fault.Cancelled, "The session was not changed. The running turn continues.")
	return env.ask().decide(ctx, "A turn is running in this session. Stop it and switch?", "Stop and Switch", "Keep Running", busy, kept)
}
