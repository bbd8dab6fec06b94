package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
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

// ContextUsage is how full the window of the model is that the context names, or of the
// default one.
func (s *Session) ContextUsage(ctx context.Context, c session.Context) ContextUsage {
	tokens, _ := compaction.Tokens(c.Messages)
	return s.contextUsage(ctx, s.current(), tokens, c.State())
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
