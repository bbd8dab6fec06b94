package agent

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// withHistory returns the messages of a request, and records whether a history is among them that the
// service compacted itself. Those that it rejected before are left out, so that the summaries in words
// are sent: the key may be of another account than the one that made them.
func (h *host) withHistory(messages []provider.Message) []provider.Message {
	rejected := h.rejected().history
	has := slices.ContainsFunc(messages, func(m provider.Message) bool { return m.History != nil })
	if h.history = has && !rejected; !has || !rejected {
		return messages
	}
	messages = slices.Clone(messages)
	for i := range messages {
		messages[i].History = nil
	}
	return messages
}
