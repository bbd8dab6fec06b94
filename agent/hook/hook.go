// Package hook lets others take part in what happens to a session: refuse a change
// before it is made, or be told after it was. It imports only the standard library,
// takes events in and gives decisions out, and knows no agent.
//
// Package script, below it, makes hooks of a person's executables.
package hook

import (
	"context"
	"fmt"
)

// Hook takes part in a session's life. It may be called concurrently for different
// folders, for one folder in the order of its events.
type Hook interface {
	// Before is asked before a change. An error is not a no.
	Before(ctx context.Context, e Event) (Decision, error)
	// After is told of a change that was made. It holds up whoever made it.
	After(ctx context.Context, e Event)
}

// Closer is a [Hook] that has something to finish at the end, such as telling what it was told.
type Closer interface {
	// Close finishes until ctx ends. The hook is not called any more.
	Close(ctx context.Context)
}

// Runner asks hooks in order.
type Runner struct {
	Hooks  []Hook
	Report func(error) // told of hooks that failed; may be nil
}

// Before asks each hook in turn; the first that cancels wins and the rest is not
// asked. A hook that fails or panics is reported and does not cancel.
func (r Runner) Before(ctx context.Context, e Event) Decision {
	for _, h := range r.Hooks {
		var d Decision
		if !r.guard(e.Name, func() (err error) {
			d, err = h.Before(ctx, e)
			return err
		}) {
			continue
		}
		if d.Cancel {
			return d
		}
	}
	return Decision{}
}

// After tells every hook.
func (r Runner) After(ctx context.Context, e Event) {
	for _, h := range r.Hooks {
		r.guard(e.Name, func() error {
			h.After(ctx, e)
			return nil
		})
	}
}

// Close closes the hooks that are a [Closer].
func (r Runner) Close(ctx context.Context) {
	for _, h := range r.Hooks {
		c, ok := h.(Closer)
		if !ok {
			continue
		}
		r.guard("close", func() error {
			c.Close(ctx)
			return nil
		})
	}
}

// guard calls f and reports whether it went well. What did not is reported.
func (r Runner) guard(at Name, f func() error) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			r.report(at, fmt.Errorf("panic: %v", p))
			ok = false
		}
	}()
	err := f()
	if err != nil {
		r.report(at, err)
	}
	return err == nil
}

func (r Runner) report(at Name, err error) {
	if r.Report != nil {
		r.Report(fmt.Errorf("hook %s: %w", at, err))
	}
}
