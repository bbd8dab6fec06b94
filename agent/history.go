package agent

import (
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// WithoutHistory sends summaries in words in place of histories that the service compacted itself,
// if it rejected a request with one: the key may be of another account than the one that made it.
// The file keeps them.
func (h *host) WithoutHistory(cause *provider.Error) (changed bool) {
	if cause.Class != provider.InvalidRequest || !h.history {
		return false
	}
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.s.inWords = h.log
	return true
}

// withHistory returns the messages of a request, without histories that were rejected before, and
// records whether any is left.
func (h *host) withHistory(messages []provider.Message) []provider.Message {
	h.s.mu.Lock()
	rejected := h.s.inWords == h.log
	h.s.mu.Unlock()
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
