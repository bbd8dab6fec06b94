package agent

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// editorTools returns the tool that asks the editor about code, and then the same tool without the actions that apply
// edits, for a session that records that it only reads.
func editorTools(_ context.Context, h *host) (list []tool.Tool) {
	for _, readOnly := range []bool{false, true} {
		if t, ok := h.s.m.cfg.Senses.Tool(readOnly); ok {
			list = append(list, t)
		}
	}
	return list
}

// sensing returns t, if it is edit or write, with the new errors of the file in its results.
func (h *host) sensing(t tool.Tool) tool.Tool {
	if isWrite(t.Name) {
		return h.s.m.cfg.Senses.Diagnosing(t)
	}
	return t
}
