package replicate

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// complete appends the lines of a session that the store has and the file at path lacks. While a turn of this process runs, and while
// another program has the file open, it is a Busy error, and the file stays as it is. Its other errors are those of [pull.Puller.Rest].
func (r *Replicator) complete(ctx context.Context, path string, sid team.SID) error {
	if r.inTurn(path) {
		return fault.New(fault.Busy, "A turn writes the session file %s.", path)
	}
	store, err := r.agreed(ctx)
	if err != nil {
		return err
	}
	p, err := r.puller(store)
	if err != nil {
		return err
	}
	_, err = p.Rest(ctx, sid, path, nil)
	return err
}

// inTurn reports whether a turn of this process writes the file at path.
func (r *Replicator) inTurn(path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.holds[path]
	return h != nil && h.turns > 0
}
