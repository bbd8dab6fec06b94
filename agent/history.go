package agent

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/memo"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// withHistory returns the messages of a request, and records whether a history is among them that the
// service compacted itself. Those that it rejected before are left out, so that the summaries in words
// are sent: the key may be of another account than the one that made them.
func (h *host) withHistory(r memo.Request) []provider.Message {
	rejected := h.rejected().history
	if h.history = r.History && !rejected; !r.History || !rejected {
		return r.Messages
	}
	messages := slices.Clone(r.Messages)
	for i := range messages {
		messages[i].History = nil
	}
	return messages
}
