package agent

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/recorded"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// source returns tools that a conversation has beside those of [Config]. It returns the same ones for every
// request of a turn, as far as it can: services cache the common beginning of requests.
type source func(ctx context.Context, h *host) []tool.Tool

// sources are the sources of tools, in the order in which models see their tools.
func sources() []source {
	return []source{
		planningTools, editorTools, serverTools, subagents,
	}
}

// tools returns the tools of the conversation with a recorded setup. Of tools with one name the first one
// counts.
func (h *host) tools(ctx context.Context, own recorded.Setup) []tool.Tool {
	list := h.s.m.tools(own)
	for _, of := range sources() {
		for _, t := range of(ctx, h) {
			taken := slices.ContainsFunc(list, func(other tool.Tool) bool { return other.Name == t.Name })
			if !taken && own.Allows(t.Name, t.Changes) {
				list = append(list, t)
			}
		}
	}
	return h.honoured(ctx, list)
}

// found returns the user's set-up that holds for the conversation. It is read at the beginning of a turn, and again
// after a tool that changes something.
func (h *host) found(ctx context.Context) *setup.Resolved {
	h.finding.Lock() // calls that only read run beside each other
	defer h.finding.Unlock()
	if h.resolved == nil {
		h.resolved = h.s.m.setups().Resolve(ctx, h.s.setupQuery(h.log))
		h.s.m.reportSetup(h.resolved.Problems)
	}
	return h.resolved
}

// forgetFound makes the next use of the set-up read its files again.
func (h *host) forgetFound() {
	h.finding.Lock()
	defer h.finding.Unlock()
	h.resolved = nil
}
