package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

const (
	// defaultLimit is how long a call of a tool may take that sets no limit of its own.
	defaultLimit = 2 * time.Minute

	// stopTime is how long a call may take to stop once its context has ended: a little more
	// than a command has that ignores the first signal.
	stopTime = 3 * time.Second
)

// Stopped is the error of a call that was stopped, as a sentence for the model.
type Stopped struct {
	Tool  string
	Limit time.Duration // the limit that the call exceeded; 0 if the turn was stopped
	Stuck bool          // it did not stop and was abandoned
}

// Error implements error.
func (s *Stopped) Error() string {
	switch {
	case s.Limit == 0:
		return fmt.Sprintf("The user stopped the turn, but this %s call did not stop; it may still be running.", s.Tool)
	case s.Stuck:
		return fmt.Sprintf("This %s call exceeded its time limit of %s and did not stop; it may still be running.", s.Tool, durationText(s.Limit))
	default:
		return fmt.Sprintf("This %s call was stopped because it exceeded its time limit of %s.", s.Tool, durationText(s.Limit))
	}
}

// durationText is a duration in the largest unit that divides it.
func durationText(d time.Duration) string {
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return counted(int(d/time.Minute), "minute")
	case d >= time.Second && d%time.Second == 0:
		return counted(int(d/time.Second), "second")
	default:
		return d.String()
	}
}

// limitOf is how long a call may take; 0 is for ever.
func (t Tool) limitOf(args json.RawMessage) time.Duration {
	if t.Limit == nil {
		return defaultLimit
	}
	return t.Limit(args)
}

// RunWithin is Run within the tool's time limit. It returns soon after the limit has passed or ctx
// has ended, even if Run does not stop: the call is then abandoned, with the error *Stopped. A
// panic of Run is one of RunWithin.
func (t Tool) RunWithin(ctx context.Context, env Env, args json.RawMessage) (Result, error) {
	call := Call{ID: CallOf(ctx).ID, Tool: t.Name}
	if call.ID == "" {
		call.ID = env.CallID // else the call of a subagent belongs to that which started it
	}
	ctx = WithCall(ctx, call)
	if t.Around != nil {
		defer t.Around(ctx, env, args)()
	}
	return within(ctx, t, env, args, func(r Result) bool { return r.IsError }, t.Run)
}

// PreviewWithin is RunWithin for Preview, which must not be nil.
func (t Tool) PreviewWithin(ctx context.Context, env Env, args json.RawMessage) (Preview, error) {
	return within(ctx, t, env, args, func(Preview) bool { return false }, t.Preview)
}

// returned is the outcome of a call.
type returned[R any] struct {
	result   R
	err      error
	panicked any // nil if it did not
}

var errLimit = errors.New("the time limit has passed")

func within[R any](
	ctx context.Context, t Tool, env Env, args json.RawMessage,
	failed func(R) bool, f func(context.Context, Env, json.RawMessage) (R, error),
) (R, error) {
	limit := t.limitOf(args)
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	if limit > 0 {
		var stop context.CancelFunc
		limited, stop = context.WithTimeoutCause(limited, limit, errLimit)
		defer stop()
	}
	done := make(chan returned[R], 1)
	go func() {
		var r returned[R]
		defer func() {
			r.panicked = recover()
			done <- r
		}()
		r.result, r.err = f(limited, env, args)
	}()
	stopped := &Stopped{Tool: t.Name}
	r, ok := await(limited, done)
	if errors.Is(context.Cause(limited), errLimit) {
		stopped.Limit = limit
	}
	switch {
	case !ok:
		stopped.Stuck = true
		if env.Abandoned != nil {
			env.Abandoned(t.Name)
		}
		return r.result, stopped
	case r.panicked != nil:
		panic(r.panicked)
	case stopped.Limit > 0 && (r.err != nil || failed(r.result)):
		return r.result, stopped
	}
	return r.result, r.err
}

// await waits for a call, and a little longer than ctx lasts. It reports false for one that
// did not return.
func await[R any](ctx context.Context, done <-chan returned[R]) (r returned[R], ok bool) {
	select {
	case r = <-done:
		return r, true
	case <-ctx.Done():
	}
	late := time.NewTimer(stopTime)
	defer late.Stop()
	select {
	case r = <-done:
		return r, true
	case <-late.C:
		return r, false
	}
}
