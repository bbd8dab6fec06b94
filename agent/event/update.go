package event

import "github.com/xcsh-ls/xcsh-ls/agent/provider"

// UpdateType is the type of an [Update].
type UpdateType string

// The types of an [Update].
const (
	TextDelta     UpdateType = "text_delta"
	ThinkingDelta UpdateType = "thinking_delta"
	ToolCallStart UpdateType = "toolcall_start"
	ToolCallDelta UpdateType = "toolcall_delta"
	TextEnd       UpdateType = "text_end"
	ThinkingEnd   UpdateType = "thinking_end"
	ToolCallEnd   UpdateType = "toolcall_end"
)

// Update is a piece of an answer.
type Update struct {
	Type         UpdateType      `json:"type"`
	ContentIndex int             `json:"contentIndex"`
	Delta        string          `json:"delta,omitempty"`
	ToolCallID   string          `json:"toolCallId,omitempty"`
	ToolName     string          `json:"toolName,omitempty"`
	Block        *provider.Block `json:"block,omitempty"` // of the types ending in _end
}

// UpdateOf returns the piece of an answer that e brings. ok is false if it brings none.
func UpdateOf(e provider.Event) (u Update, ok bool) {
	u = Update{ContentIndex: e.Index, Delta: e.Delta}
	switch e.Kind {
	case provider.TextDelta:
		u.Type = TextDelta
	case provider.ThinkingDelta:
		u.Type = ThinkingDelta
	case provider.ToolCallDelta:
		u.Type = ToolCallDelta
	case provider.ToolCallStart:
		u.Type, u.ToolCallID, u.ToolName = ToolCallStart, e.Block.ID, e.Block.Name
	case provider.BlockEnd:
		u.Block = e.Block
		switch e.Block.Type {
		case provider.TypeText:
			u.Type = TextEnd
		case provider.TypeThinking:
			u.Type = ThinkingEnd
		default:
			u.Type, u.ToolCallID, u.ToolName = ToolCallEnd, e.Block.ID, e.Block.Name
		}
	default:
		return Update{}, false
	}
	return u, true
}
