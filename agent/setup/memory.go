package setup

import "sync"

// Memory holds the state of a process about the set-ups of folders, beside the user's stored decisions. Each of
// its entries holds as long as the set-up starts the same programs. Its zero value is empty; a nil Memory stays
// empty. It is safe for concurrent use.
type Memory struct {
	mu     sync.Mutex
	asked  map[string]bool       // guarded by mu
	grants map[string]TrustState // guarded by mu
}

// key identifies a folder and the programs that its set-up starts.
func (t Trust) key() string { return t.folder + "\x00" + t.digest }

// Ask reports whether the user has to be asked about the set-up r, which has not been decided about. It does so
// once for each content: an answer that is no decision counts until the process ends.
func (f Finder) Ask(r *Resolved) bool {
	if !r.Trust.Undecided() {
		return false
	}
	m := f.Memory
	if m == nil {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked[r.Trust.key()] {
		return false
	}
	if m.asked == nil {
		m.asked = map[string]bool{}
	}
	m.asked[r.Trust.key()] = true
	return true
}

// Grant lets the set-up r be used until the process ends, without storing that. state is Trusted or
// WithoutServers.
func (f Finder) Grant(r *Resolved, state TrustState) {
	m := f.Memory
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.grants == nil {
		m.grants = map[string]TrustState{}
	}
	m.grants[r.Trust.key()] = state
}

func (m *Memory) granted(t Trust) (TrustState, bool) {
	if m == nil {
		return "", false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	state, ok := m.grants[t.key()]
	return state, ok
}
