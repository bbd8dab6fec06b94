package event

import (
	"encoding/json"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// The events of a run, in which the model answers a prompt.
type (
	// AgentStart begins a run: one prompt and the messages queued behind it.
	AgentStart struct{}

	// AgentEnd ends a run.
	AgentEnd struct {
		StopReason   string       `json:"stopReason,omitempty"`
		ErrorMessage string       `json:"errorMessage,omitempty"`
		Unanswered   []string     `json:"unanswered,omitempty"` // queued messages that are returned to the user
		Changes      *FileChanges `json:"changes,omitempty"`    // nil: it changed no files
		*Rejection                // set if the service rejected content of the conversation
	}

	// Rejection is content that a service rejected, so that later requests would fail, too.
	Rejection struct {
		Message string   `json:"-"`                 // sentences for the user, each with a space before it
		EntryID string   `json:"entryId,omitempty"` // of the rejected entry, "" if it is not known
		Actions []Action `json:"actions,omitempty"` // ways to continue
	}

	// Action is a command that a client offers to the user.
	Action struct {
		Title     string         `json:"title"`
		Command   string         `json:"command"`   // of the server
		Arguments map[string]any `json:"arguments"` // of the command; those that are missing are asked for
	}

	// TurnStart begins a turn: one answer of the model and its tool calls.
	TurnStart struct{}

	// TurnEnd ends a turn. Message is missing if there was no answer.
	TurnEnd struct {
		Message     json.RawMessage   `json:"message,omitempty"`
		ToolResults []json.RawMessage `json:"toolResults,omitempty"`
	}

	// MessageStart begins a message, of the user or of the model.
	MessageStart struct {
		Message json.RawMessage `json:"message,omitempty"`
		Typed   string          `json:"typed,omitempty"` // the command that the user typed, if the message was made of it
	}

	// MessageUpdate is a piece of the model's answer.
	MessageUpdate struct {
		Update Update `json:"assistantMessageEvent"`
	}

	// MessageEnd ends a message.
	MessageEnd struct {
		Message json.RawMessage `json:"message,omitempty"`
		Typed   string          `json:"typed,omitempty"`   // as in MessageStart
		EntryID string          `json:"entryId,omitempty"` // of the message's entry in the session
	}

	// ToolStart begins a tool call.
	ToolStart struct {
		ToolCallID       string          `json:"toolCallId,omitempty"`
		ToolName         string          `json:"toolName,omitempty"`
		Args             json.RawMessage `json:"args,omitempty"`
		ParentToolCallID string          `json:"parentToolCallId,omitempty"` // of the call that made this one; such a call has no message
	}

	// ToolUpdate is the result of a tool call so far. It replaces the previous one.
	ToolUpdate struct {
		ToolCallID    string          `json:"toolCallId,omitempty"`
		ToolName      string          `json:"toolName,omitempty"`
		PartialResult json.RawMessage `json:"partialResult,omitempty"`

		ParentToolCallID string `json:"parentToolCallId,omitempty"` // see [ToolStart]
	}

	// ToolEnd ends a tool call.
	ToolEnd struct {
		ToolCallID string          `json:"toolCallId,omitempty"`
		ToolName   string          `json:"toolName,omitempty"`
		Result     json.RawMessage `json:"result,omitempty"`
		IsError    bool            `json:"isError,omitempty"`

		ParentToolCallID string `json:"parentToolCallId,omitempty"` // see [ToolStart]
	}

	// RetryStart reports that a request failed and will be repeated after a delay.
	RetryStart struct {
		ErrorMessage string         `json:"errorMessage,omitempty"`
		Attempt      int            `json:"attempt,omitempty"`
		MaxAttempts  int            `json:"maxAttempts,omitempty"`
		DelayMs      int64          `json:"delayMs,omitempty"`
		Reason       provider.Class `json:"reason,omitempty"`
	}

	// RetryEnd ends the retries of a request.
	RetryEnd struct {
		ErrorMessage string `json:"errorMessage,omitempty"`
		Attempt      int    `json:"attempt,omitempty"`
		Success      bool   `json:"success"`
	}

	// QueueChanged lists the messages that are queued for the run.
	QueueChanged struct {
		Steering []string `json:"steering,omitempty"`
		FollowUp []string `json:"followUp,omitempty"`
	}

	// NotSaved reports that an entry could not be written. It is kept in memory.
	NotSaved struct {
		ErrorMessage string `json:"errorMessage,omitempty"`
	}
)

func (AgentStart) sealed()    {}
func (AgentEnd) sealed()      {}
func (TurnStart) sealed()     {}
func (TurnEnd) sealed()       {}
func (MessageStart) sealed()  {}
func (MessageUpdate) sealed() {}
func (MessageEnd) sealed()    {}
func (ToolStart) sealed()     {}
func (ToolUpdate) sealed()    {}
func (ToolEnd) sealed()       {}
func (RetryStart) sealed()    {}
func (RetryEnd) sealed()      {}
func (QueueChanged) sealed()  {}
func (NotSaved) sealed()      {}

// Text returns the retry as a notice for the user. Without a delay, the request is being sent.
func (e RetryStart) Text() string {
	text := fmt.Sprintf("Retrying (%d of %d)", e.Attempt, e.MaxAttempts)
	if e.DelayMs > 0 {
		text = fmt.Sprintf("Retrying in %d s (%d of %d)", (e.DelayMs+999)/1000, e.Attempt, e.MaxAttempts)
	}
	if e.ErrorMessage == "" {
		return text
	}
	return text + ": " + visible.Line(e.ErrorMessage)
}

// Type returns "agent_start".
func (AgentStart) Type() string { return "agent_start" }

// Type returns "agent_end".
func (AgentEnd) Type() string { return "agent_end" }

// Type returns "turn_start".
func (TurnStart) Type() string { return "turn_start" }

// Type returns "turn_end".
func (TurnEnd) Type() string { return "turn_end" }

// Type returns "message_start".
func (MessageStart) Type() string { return "message_start" }

// Type returns "message_update".
func (MessageUpdate) Type() string { return "message_update" }

// Type returns "message_end".
func (MessageEnd) Type() string { return "message_end" }

// Type returns "tool_execution_start".
func (ToolStart) Type() string { return "tool_execution_start" }

// Type returns "tool_execution_update".
func (ToolUpdate) Type() string { return "tool_execution_update" }

// Type returns "tool_execution_end".
func (ToolEnd) Type() string { return "tool_execution_end" }

// Type returns "auto_retry_start".
func (RetryStart) Type() string { return "auto_retry_start" }

// Type returns "auto_retry_end".
func (RetryEnd) Type() string { return "auto_retry_end" }

// Type returns "queue_changed".
func (QueueChanged) Type() string { return "queue_changed" }

// Type returns "persistence_error".
func (NotSaved) Type() string { return "persistence_error" }

// MarshalJSON implements [json.Marshaler].
func (e AgentStart) MarshalJSON() ([]byte, error) {
	type members AgentStart
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e AgentEnd) MarshalJSON() ([]byte, error) {
	type members AgentEnd
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e TurnStart) MarshalJSON() ([]byte, error) {
	type members TurnStart
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e TurnEnd) MarshalJSON() ([]byte, error) {
	type members TurnEnd
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e MessageStart) MarshalJSON() ([]byte, error) {
	type members MessageStart
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e MessageUpdate) MarshalJSON() ([]byte, error) {
	type members MessageUpdate
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e MessageEnd) MarshalJSON() ([]byte, error) {
	type members MessageEnd
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ToolStart) MarshalJSON() ([]byte, error) {
	type members ToolStart
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ToolUpdate) MarshalJSON() ([]byte, error) {
	type members ToolUpdate
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ToolEnd) MarshalJSON() ([]byte, error) {
	type members ToolEnd
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e RetryStart) MarshalJSON() ([]byte, error) {
	type members RetryStart
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e RetryEnd) MarshalJSON() ([]byte, error) {
	type members RetryEnd
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e QueueChanged) MarshalJSON() ([]byte, error) {
	type members QueueChanged
	return encode(e.Type(), members(e))
}

// MarshalJSON implements [json.Marshaler].
func (e NotSaved) MarshalJSON() ([]byte, error) {
	type members NotSaved
	return encode(e.Type(), members(e))
}
