package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
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
	stats := Stats{Messages: map[string]int{}, ToolCalls: map[string]int{}}
	for i := range d.Len() {
		if d.Hidden(i) {
			continue
		}
		stats.Entries++
		e, err := d.Entry(i)
		if err != nil {
			return Stats{}, err
		}
		role := e.Role()
		if role == "" {
			continue
		}
		stats.Messages[role]++
		rawjson.Elements(rawjson.Get(e.Message(), "content"), func(block []byte) bool {
			if typ, _ := rawjson.GetString(block, "type"); typ == "toolCall" {
				name, _ := rawjson.GetString(block, "name")
				stats.ToolCalls[name]++
			}
			return true
		})
	}
	var err error
	stats.Usage, err = d.Usage()
	return stats, err
}

// ContextUsage is how full the window of the model is that the context names, or of the
// default one.
func (s *Session) ContextUsage(ctx context.Context, c session.Context) ContextUsage {
	return s.contextUsage(ctx, c)
}
