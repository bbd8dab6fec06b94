package lsp

import (
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// phase is where a connection is in its life.
type phase int

const (
	phaseNew      phase = iota // before a successful initialize
	phaseRunning               // initialize was answered
	phaseStopping              // shutdown, or the server ends for another reason
)

// state is the phase of a connection and the rule for what is allowed in it.
type state struct {
	mu       sync.Mutex
	phase    phase // guarded by mu
	shutdown bool  // the client sent shutdown; guarded by mu
}

// admit says whether a request may be handled now. It makes the step to
// phaseStopping itself, so that of two shutdown requests one is refused.
func (st *state) admit(method string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.phase == phaseStopping:
		return protocolError(jsonrpc2.InvalidRequest, "The server is shutting down.")
	case method == protocol.MethodInitialize && st.phase == phaseRunning:
		return protocolError(jsonrpc2.InvalidRequest, "The server is initialized already.")
	case method == protocol.MethodInitialize:
		return nil
	case st.phase == phaseNew:
		return protocolError(jsonrpc2.ServerNotInitialized, "The server has not been initialized.")
	case method == protocol.MethodShutdown:
		st.phase, st.shutdown = phaseStopping, true
	}
	return nil
}

// is reports whether the connection is in phase p.
func (st *state) is(p phase) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.phase == p
}

// advance makes p the phase, unless the connection is beyond it.
func (st *state) advance(p phase) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.phase = max(st.phase, p)
}

func (st *state) shutdownSeen() bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.shutdown
}
