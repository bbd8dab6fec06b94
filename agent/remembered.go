package agent

import (
	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/memo"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// remembered is what the conversation of the live session becomes in requests. It is kept from the first
// request on, until another session is live.
type remembered struct {
	log  *session.Log
	memo *memo.Conversation
}

// memo returns the memo of the conversation in log, or an empty memo that is not kept if log is
// no longer live.
func (s *Session) memo(log *session.Log) *memo.Conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests.log == log {
		return s.requests.memo
	}
	made := memo.New(&s.m.images)
	if s.log == log {
		s.requests = remembered{log, made}
	}
	return made
}

// tokens estimates the tokens of a context. It does not begin to remember it.
func (s *Session) tokens(log *session.Log, c session.Context) int {
	s.mu.Lock()
	known := s.requests
	s.mu.Unlock()
	if known.log != log {
		tokens, _ := compaction.Tokens(c.Messages)
		return tokens
	}
	return known.memo.Tokens(c.Messages)
}
