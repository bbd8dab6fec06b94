package agent

import (
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

// writes holds the changes that sessions of this process recorded between the two looks around a command, so that changes of other calls
// are not attributed to the command. It is safe for concurrent use.
type writes struct {
	mu      sync.Mutex
	looking int                // guarded by mu, like all below
	seq     int                // of the newest write
	made    map[string][]write // by path with links resolved; empty without looks
}

// write is one change of a path.
type write struct {
	seq   int
	state change.State
	of    *ledger
}

// note adds a write.
func (w *writes) note(of *ledger, path string, st change.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.looking == 0 {
		return
	}
	w.seq++
	if w.made == nil {
		w.made = map[string][]write{}
	}
	w.made[path] = append(w.made[path], write{w.seq, st, of})
}

// begin begins a look. since is its position in the sequence of writes; end must be called once.
func (w *writes) begin() (since int, end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking++
	return w.seq, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.looking--; w.looking == 0 {
			w.made = nil
		}
	}
}

// last returns the state after the newest write of a path since a position.
func (w *writes) last(path string, since int) (st change.State, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	made := w.made[path]
	if n := len(made); n > 0 && made[n-1].seq > since {
		return made[n-1].state, true
	}
	return change.State{}, false
}
