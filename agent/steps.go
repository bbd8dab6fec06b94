package agent

import (
	"context"
	"errors"
)

// step is one step of an operation on a session, with its undo. undo is nil if there is
// nothing to undo.
type step struct {
	name string
	do   func(ctx context.Context) error
	undo func() error
}

// runSteps does each step in turn. When one fails, the steps done before it are
// undone backwards; the error is then that of the step, joined by those of undoing.
func runSteps(ctx context.Context, steps []step) error {
	for i, s := range steps {
		err := ctx.Err()
		if err == nil {
			err = s.do(ctx)
		}
		if err == nil {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			if steps[j].undo != nil {
				err = errors.Join(err, steps[j].undo())
			}
		}
		return err
	}
	return nil
}
