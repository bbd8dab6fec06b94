package agent

import (
	"context"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// maxOriented bounds the conversations whose surroundings are kept.
const maxOriented = 64

// orientation is where and when the conversations of a session began, as text for the model. Each is
// determined once, because services cache the beginning of requests only while it stays the same.
type orientation struct {
	mu   sync.Mutex
	byID map[string]string // guarded by mu, like all below; by session id

	// Of the conversation that had the last turn.
	log      *session.Log
	id, path string
	text     string
}

// orient determines the surroundings of a conversation before its first turn here. A fork has those of
// the conversation before it: their requests begin alike.
func (s *Session) orient(ctx context.Context, log *session.Log) {
	if s.m.cfg.Surroundings == nil {
		return
	}
	c, _, err := log.Context()
	if err != nil {
		s.m.log.Warn("the beginning of the conversation cannot be read", zap.Error(err)) // the request will report it
		return
	}
	header := log.Header()
	text, known := s.around.known(header)
	if !known {
		text = s.m.cfg.Surroundings(ctx, s.cwd, len(c.Messages) == 0) // one turn at a time is here
		if ctx.Err() != nil {
			return // it may be incomplete, and no request follows
		}
	}
	s.around.set(header.ID, log, text)
}

// known returns the surroundings of a conversation that had a turn here, or was forked from the one
// that had the last turn.
func (o *orientation) known(header session.Header) (text string, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if text, ok = o.byID[header.ID]; !ok && o.log != nil && header.ParentSession != "" {
		return o.text, header.ParentSession == o.id || header.ParentSession == o.path
	}
	return text, ok
}

func (o *orientation) set(id string, log *session.Log, text string) {
	path := log.Path()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil || len(o.byID) >= maxOriented {
		o.byID = map[string]string{}
	}
	o.byID[id], o.id, o.path, o.log, o.text = text, id, path, log, text
}

// of returns the surroundings of the conversation that log holds, "" before its first turn.
func (o *orientation) of(log *session.Log) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.log != log {
		return ""
	}
	return o.text
}
