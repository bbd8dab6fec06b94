package lsp

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
)

// forward is called by the sessions for every event and does not block. The
// sessions emit the events of a command before the command returns, which is why
// the client sees them before the answer. A notification about the sessions on
// disk replaces a waiting one about the same folder; no other event is merged.
func (s *server) forward(e agent.Event) {
	switch e := e.(type) {
	case agent.RunEvent:
		s.forwardRun(EventParams(e))
		if e.Event.Type == loop.AgentEnd {
			s.transcripts.mayHaveChanged()
		}
	case agent.SessionChanged:
		s.notify(MethodSessionChanged, SessionChangedParams{
			Cwd: e.Cwd, SessionID: e.SessionID, Seq: e.Seq,
			Reason: string(e.Reason), PreviousSessionFile: e.PreviousSessionFile,
		}, "")
	case agent.SessionsChanged:
		s.notify(MethodSessionsChanged, SessionsChangedParams{Cwd: e.Cwd}, MethodSessionsChanged+"\x00"+e.Cwd)
		s.transcripts.mayHaveChanged()
	default:
		s.log.Debug("an event without a wire form")
	}
}

// forwardRun queues an event of a turn. Each update of a running tool holds all of its
// output, so that only the newest that waits has to.
func (s *server) forwardRun(e EventParams) {
	if e.Event.Type != loop.ToolUpdate {
		s.notify(MethodEvent, e, "")
		return
	}
	full, err := encodeJSON(e)
	e.Event.PartialResult = nil
	brief, briefErr := encodeJSON(e)
	if err = errors.Join(err, briefErr); err != nil {
		s.log.Error("an event could not be encoded", zap.Error(err))
		return
	}
	s.outbox.put(outgoing{method: MethodEvent, params: full, brief: brief, outdates: e.SessionID + "\x00" + e.Event.ToolCallID})
}

// notify queues a notification of ours. A waiting one with the same merge key is
// replaced; "" never is.
func (s *server) notify(method string, params any, merge string) {
	raw, err := encodeJSON(params)
	if err != nil {
		s.log.Error("a notification could not be encoded", zap.String("method", method), zap.Error(err))
		return
	}
	s.outbox.put(outgoing{method: method, params: raw, merge: merge})
}

// writeOutbox writes queued notifications until the outbox is closed.
func (s *server) writeOutbox() {
	defer close(s.written)
	s.outbox.run(func(n outgoing) {
		if err := s.conn.Notify(context.Background(), n.method, n.params); err != nil {
			s.log.Debug("a notification was not sent", zap.String("method", n.method), zap.Error(err))
		}
	})
}
