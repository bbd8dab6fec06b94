package loop

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// The types of an [Event], named as the terminal programs name them.
const (
	AgentStart   = "agent_start"
	AgentEnd     = "agent_end" // StopReason, ErrorMessage
	TurnStart    = "turn_start"
	TurnEnd      = "turn_end" // Message, ToolResults
	MessageStart = "message_start"
	MessageDelta = "message_update" // Update
	MessageEnd   = "message_end"    // Message, EntryID
	ToolStart    = "tool_execution_start"
	ToolUpdate   = "tool_execution_update"
	ToolEnd      = "tool_execution_end"
	RetryStart   = "auto_retry_start"
	RetryEnd     = "auto_retry_end"
	QueueChanged = "queue_changed"
	NotSaved     = "persistence_error"
)

// Event is one thing that happens in a run. Which members are set depends on Type.
type Event struct {
	Type string `json:"type"`

	Message     json.RawMessage   `json:"message,omitempty"`
	EntryID     string            `json:"entryId,omitempty"` // of the message's entry in the session
	Update      *Update           `json:"assistantMessageEvent,omitempty"`
	ToolResults []json.RawMessage `json:"toolResults,omitempty"`

	ToolCallID    string          `json:"toolCallId,omitempty"`
	ToolName      string          `json:"toolName,omitempty"`
	Args          json.RawMessage `json:"args,omitempty"`
	PartialResult json.RawMessage `json:"partialResult,omitempty"` // replaces the one before
	Result        json.RawMessage `json:"result,omitempty"`
	IsError       bool            `json:"isError,omitempty"`

	StopReason   string `json:"stopReason,omitempty"`
	ErrorMessage string `json:"errorMessage,omitempty"`

	Attempt     int            `json:"attempt,omitempty"`
	MaxAttempts int            `json:"maxAttempts,omitempty"`
	DelayMs     int64          `json:"delayMs,omitempty"`
	Reason      provider.Class `json:"reason,omitempty"`
	Success     *bool          `json:"success,omitempty"`

	CompactionReason string `json:"compactionReason,omitempty"` // manual, threshold or overflow
	Aborted          bool   `json:"aborted,omitempty"`
	WillRetry        bool   `json:"willRetry,omitempty"`

	Unanswered []string `json:"unanswered,omitempty"` // queued messages that are given back
	Steering   []string `json:"steering,omitempty"`
	FollowUp   []string `json:"followUp,omitempty"`

	Model         *provider.Ref   `json:"model,omitempty"`
	Role          string          `json:"role,omitempty"`
	Mode          string          `json:"mode,omitempty"` // of approval
	ThinkingLevel provider.Level  `json:"thinkingLevel,omitempty"`
	Text          string          `json:"text,omitempty"`      // of a notice
	Kind          string          `json:"kind,omitempty"`      // of an error
	Approvals     json.RawMessage `json:"approvals,omitempty"` // what waits for the person's word
}

// Update is a piece of an answer.
type Update struct {
	Type         string          `json:"type"` // text_delta, thinking_delta, toolcall_start, toolcall_delta, text_end, thinking_end, toolcall_end
	ContentIndex int             `json:"contentIndex"`
	Delta        string          `json:"delta,omitempty"`
	ToolCallID   string          `json:"toolCallId,omitempty"`
	ToolName     string          `json:"toolName,omitempty"`
	Block        *provider.Block `json:"block,omitempty"` // of the types ending in _end
}

// updateOf is the piece of an answer that e brings, nil when it brings none.
func updateOf(e provider.Event) *Update {
	u := &Update{ContentIndex: e.Index, Delta: e.Delta}
	switch e.Kind {
	case provider.TextDelta:
		u.Type = "text_delta"
	case provider.ThinkingDelta:
		u.Type = "thinking_delta"
	case provider.ToolCallDelta:
		u.Type = "toolcall_delta"
	case provider.ToolCallStart:
		u.Type, u.ToolCallID, u.ToolName = "toolcall_start", e.Block.ID, e.Block.Name
	case provider.BlockEnd:
		u.Block = e.Block
		switch e.Block.Type {
		case provider.TypeText:
			u.Type = "text_end"
		case provider.TypeThinking:
			u.Type = "thinking_end"
		default:
			u.Type, u.ToolCallID, u.ToolName = "toolcall_end", e.Block.ID, e.Block.Name
		}
	default:
		return nil
	}
	return u
}
