package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// Stats counts the contents of a session, on all of its branches.
type Stats struct {
	Entries   int            `json:"entries"`
	Messages  map[string]int `json:"messages" jsonschema:"Messages by role."`
	ToolCalls map[string]int `json:"toolCalls" jsonschema:"Tool calls by tool."`
	Usage     session.Usage  `json:"usage" jsonschema:"Tokens, and cost in US dollars as recorded."`
	Context   ContextUsage   `json:"contextUsage" jsonschema:"Usage of the model's context window."`
}

// StatsOf counts a session.
func StatsOf(d *session.Document) (Stats, error) {
	t, err := d.Tally()
	return Stats{Entries: t.Entries, Messages: t.Roles, ToolCalls: t.Calls, Usage: t.Usage}, err
}

// ContextTokens estimates the tokens of the context up to leaf, and returns its state. It reads the messages from the newest
// one back to the last answer with a count of the service.
func ContextTokens(d *session.Document, leaf session.Leaf) (tokens int, state session.ContextState, err error) {
	c, err := d.Conversation(leaf, d.Len(), nil)
	if err != nil {
		return 0, state, err
	}
	tokens, err = tokensOf(c)
	return tokens, c.State.State(), err
}

// ContextUsage is how full the window of the model is that a context with the tokens and the state names, or of the
// default one.
func (s *Session) ContextUsage(ctx context.Context, tokens int, state session.ContextState) ContextUsage {
	return s.contextUsage(ctx, s.current(), tokens, state)
}

// CurrentUsage is [Session.ContextUsage] of the current context. It is quick if RemembersContext reports true.
func (s *Session) CurrentUsage(ctx context.Context) (ContextUsage, error) {
	log := s.current()
	c, _, err := log.Context()
	if err != nil {
		return ContextUsage{}, err
	}
	return s.contextUsage(ctx, log, s.tokens(log, c), c.State()), nil
}

// RemembersContext reports whether the session had a request since it became the live one, so that its context
// is remembered.
func (s *Session) RemembersContext() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log != nil && s.requests.log == s.log
}
