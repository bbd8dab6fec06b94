// Package hook lets others take part in what happens to a session: refuse a change
// before it is made, or be told after it was. It imports only the standard library,
// takes events in and gives decisions out, and knows no agent.
package hook

import (
	"context"
	"fmt"
)

// Name names an event. The names are those of the terminal programs' extensions.
type Name string

// The events. Those called before can be cancelled.
const (
	BeforeSwitch  Name = "session_before_switch"
	Switch        Name = "session_switch"
	BeforeFork    Name = "session_before_fork"
	Fork          Name = "session_fork"
	BeforeTree    Name = "session_before_tree"
	Tree          Name = "session_tree"
	BeforeCompact Name = "session_before_compact"
	Compact       Name = "session_compact"
	Start         Name = "session_start"
	Shutdown      Name = "session_shutdown"
)

// Event is what a hook is told. Fields that do not apply are empty.
type Event struct {
	Name                Name
	Reason              string // "new", "resume" or "fork" for a switch; "manual", "threshold" or "overflow" for a compaction
	Cwd                 string
	TargetSessionFile   string
	PreviousSessionFile string
	EntryID             string
}

// Hook takes part in a session's life. It may be called concurrently for different
// folders, never for the same one.
type Hook interface {
	// Before is asked before a change; cancel stops it. An error does not.
	Before(ctx context.Context, e Event) (cancel bool, err error)
	// After is told of a change that was made.
	After(ctx context.Context, e Event)
}

// Runner asks hooks in order.
type Runner struct {
	Hooks  []Hook
	Report func(error) // told of hooks that failed; may be nil
}

// Before asks each hook in turn; the first that cancels wins and the rest is not
// asked. A hook that fails or panics is reported and does not cancel.
func (r Runner) Before(ctx context.Context, e Event) (cancelled bool) {
	for _, h := range r.Hooks {
		var cancel bool
		err := r.guard(func() (err error) {
			cancel, err = h.Before(ctx, e)
			return err
		})
		if err != nil {
			r.report(fmt.Errorf("hook %s: %w", e.Name, err))
			continue
		}
		if cancel {
			return true
		}
	}
	return false
}

// After tells every hook.
func (r Runner) After(ctx context.Context, e Event) {
	for _, h := range r.Hooks {
		err := r.guard(func() error {
			h.After(ctx, e)
			return nil
		})
		if err != nil {
			r.report(fmt.Errorf("hook %s: %w", e.Name, err))
		}
	}
}

func (r Runner) report(err error) {
	if r.Report != nil {
		r.Report(err)
	}
}

func (r Runner) guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}
