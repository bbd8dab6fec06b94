package look

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

// readers is the number of files that are read concurrently.
const readers = 4

// states returns the states of paths, see stateOf.
func (l *Look) states(ctx context.Context, paths []string) ([]change.State, error) {
	states := make([]change.State, len(paths))
	errs := make([]error, readers)
	var next atomic.Int64
	var all sync.WaitGroup
	for worker := range min(readers, len(paths)) {
		all.Go(func() {
			for errs[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(paths) {
					return
				}
				states[i], errs[worker] = l.stateOf(ctx, paths[i])
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return states, nil
}
