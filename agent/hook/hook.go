// Package hook lets other code take part in the changes of a session: refuse a change before it is
// made, or be notified after it was. It imports only the standard library, takes events in and
// gives decisions out, and knows no agent.
//
// Package script, below it, makes hooks of a user's executables.
package hook

import (
	"context"
	"fmt"
)

// Hook takes part in a session's life. It may be called concurrently for different
// folders, for one folder in the order of its events.
type Hook interface {
	// Before is called before a change. An error does not cancel it.
	Before(ctx context.Context, e Event) (Decision, error)
	// After is called after a change. The change waits for it.
	After(ctx context.Context, e Event)
}

// Add adds entries to the session of an event for the hook named by. The error is for the user: nothing,
// or not everything, was added. It may be called until the hook is closed, and concurrently.
type Add func(ctx context.Context, e Event, by string, entries []Entry) error

// Writer is a [Hook] that adds entries to sessions.
type Writer interface {
	Hook
	// Attach is called once, before the first event.
	Attach(add Add)
}

// Closer is a [Hook] that has work to finish at the end, such as pending notifications.
type Closer interface {
	// Close finishes until ctx ends. The hook is not called any more.
	Close(ctx context.Context)
}

// Runner calls hooks in order.
type Runner struct {
	Hooks  []Hook
	Report func(error) // receives the errors of hooks; may be nil
}

// Attach passes add to the hooks that are a [Writer].
func (r Runner) Attach(add Add) {
	for _, h := range r.Hooks {
		if w, ok := h.(Writer); ok {
			w.Attach(add)
		}
	}
}

// Before calls each hook in turn; the first that cancels wins and the rest is not called. Otherwise the
// last compaction wins, as in the terminal programs. A hook that fails or panics is reported and does
// not cancel.
func (r Runner) Before(ctx context.Context, e Event) (result Decision) {
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
		if d.Compaction != nil {
			result.Compaction = d.Compaction
		}
	}
	return result
}

// After notifies every hook.
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

// guard calls f and reports whether it succeeded. It reports errors and panics of f to the user.
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
