package lsp

import (
	"sync"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// phase is a phase in the life of a connection.
type phase int

const (
	phaseNew      phase = iota // before a successful initialize
	phaseRunning               // initialize was answered
	phaseStopping              // shutdown, or the server ends for another reason
)

// state is the phase of a connection and decides which requests are allowed in it.
type state struct {
	mu       sync.Mutex
	phase    phase // guarded by mu
	shutdown bool  // the client sent shutdown; guarded by mu
}

// admit returns an error if a request is not allowed in the current phase. It advances to phaseStopping
// itself, so that one of two shutdown requests is refused.
func (st *state) admit(method string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.phase == phaseStopping:
		return conn.ProtocolError(jsonrpc2.InvalidRequest, "The server is shutting down.")
	case method == protocol.MethodInitialize && st.phase == phaseRunning:
		return conn.ProtocolError(jsonrpc2.InvalidRequest, "The server is already initialized.")
	case method == protocol.MethodInitialize:
		return nil
	case st.phase == phaseNew:
		return conn.ProtocolError(jsonrpc2.ServerNotInitialized, "The server has not been initialized.")
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

// advance changes the phase to p, unless it is a later one already.
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
