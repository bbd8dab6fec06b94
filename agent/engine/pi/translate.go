package pi

import (
	"cmp"
	"encoding/json"
	"math"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// effect is the meaning of a record to the host; at most one member is set.
type effect struct {
	event   event.Event
	message json.RawMessage // the end of a message
	queue   *queue
}

// queue is the messages that wait for the run.
type queue struct{ steering, followUp []string }

// The limits of lists that pi sends.
const maxQueued = 1000

// translate returns the meaning of a record of pi's. known is false for a type that this program has not heard of.
// The records that begin and end runs have no effect here.
func translate(r *record) (e effect, known bool) {
	switch r.typ {
	case "agent_start", "agent_end", "agent_settled", "entry_appended":
		// The caller of Run reports the beginning and the end; an entry is found in the file.
	case "turn_start":
		e.event = event.TurnStart{}
	case "turn_end":
		e.event = event.TurnEnd{Message: r.object(fMessage), ToolResults: r.elements(fToolResults)}
	case "message_start":
		if m := r.object(fMessage); shown(m) {
			e.event = event.MessageStart{Message: m}
		}
	case "message_update":
		e.event = update(r.object(fUpdate))
	case "message_end":
		if m := r.object(fMessage); shown(m) {
			e.message = m
		}
	case "queue_update":
		e.queue = &queue{r.strings(fSteering, maxQueued), r.strings(fFollowUp, maxQueued)}
	case "tool_execution_start", "tool_execution_update", "tool_execution_end":
		e.event = toolEvent(r)
	case "auto_retry_start", "auto_retry_end", "compaction_start", "compaction_end", "auto_compaction_start", "auto_compaction_end":
		e.event = recoveryEvent(r)
	case "thinking_level_changed":
		e.event = event.ThinkingLevelChanged{ThinkingLevel: provider.Level(cmp.Or(r.string(fLevel), r.string(fThinkingLevel)))}
	case "session_info_update":
		e.event = event.SessionInfoChanged{Name: r.string(fTitle)}
	case "advisor_cost_changed", "advisor_yielded", "available_commands_update", "config_update", "config_warnings_changed", "goal_updated", "irc_message",
		"model_changed", "retry_fallback_applied", "retry_fallback_succeeded", "todo_auto_clear", "todo_reminder", "ttsr_triggered":
		// Reports of omp and xcsh that nothing is shown for.
	case "session_info_changed":
		e.event = event.SessionInfoChanged{Name: r.string(fName)}
	case "extension_error":
		e.event = extensionError(r)
	default:
		return effect{}, false
	}
	return e, true
}

// shown reports whether a message is part of the conversation that clients show: the system prompt is not.
func shown(message json.RawMessage) bool {
	switch role, _ := rawjson.GetString(message, "role"); role {
	case provider.RoleUser, provider.RoleAssistant, provider.RoleToolResult, "custom":
		return true
	default:
		return false
	}
}

// update returns the piece of an answer, nil if there is none to show.
func update(raw json.RawMessage) event.Event {
	typ, _ := rawjson.GetString(raw, "type")
	index, _ := rawjson.Float(rawjson.Get(raw, "contentIndex"))
	u := event.Update{Type: event.UpdateType(typ), ContentIndex: integer(index)}
	text := func(name string) string { s, _ := rawjson.GetString(raw, name); return s }
	switch u.Type {
	case event.TextDelta, event.ThinkingDelta, event.ToolCallDelta:
		u.Delta = text("delta")
	case event.ToolCallStart:
		u.ToolCallID, u.ToolName = text("id"), text("toolName")
		if u.ToolCallID == "" { // of omp, which has it in the message so far
			u.ToolCallID, u.ToolName = partialCall(raw, u.ContentIndex)
		}
	case event.TextEnd:
		u.Block = &provider.Block{Type: provider.TypeText, Text: text("content")}
	case event.ThinkingEnd:
		u.Block = &provider.Block{Type: provider.TypeThinking, Thinking: text("content")}
	case event.ToolCallEnd:
		u.Block = toolCall(rawjson.Get(raw, "toolCall"))
		u.ToolCallID, u.ToolName = u.Block.ID, u.Block.Name
	default: // such as text_start
		return nil
	}
	return event.MessageUpdate{Update: u}
}

// partialCall returns the call at an index of the message so far.
func partialCall(raw json.RawMessage, index int) (id, name string) {
	at := 0
	rawjson.Elements(rawjson.Get(rawjson.Get(raw, "partial"), "content"), func(block []byte) bool {
		if at == index {
			id, _ = rawjson.GetString(block, "id")
			name, _ = rawjson.GetString(block, "name")
		}
		at++
		return at <= index
	})
	return id, name
}

// toolCall returns the block of a tool call. Its arguments are an object, whatever was sent.
func toolCall(raw []byte) *provider.Block {
	b := &provider.Block{Type: provider.TypeToolCall, Arguments: json.RawMessage("{}")}
	b.ID, _ = rawjson.GetString(raw, "id")
	b.Name, _ = rawjson.GetString(raw, "name")
	if args := rawjson.Get(raw, "arguments"); rawjson.Kind(args) == '{' {
		b.Arguments = args
	}
	return b
}

func toolEvent(r *record) event.Event {
	id, name := r.string(fToolCallID), r.string(fToolName)
	switch r.typ {
	case "tool_execution_start":
		return event.ToolStart{ToolCallID: id, ToolName: name, Args: r.raw(fArgs), ParentToolCallID: r.string(fParent)}
	case "tool_execution_update":
		return event.ToolUpdate{ToolCallID: id, ToolName: name, PartialResult: r.raw(fPartial), ParentToolCallID: r.string(fParent)}
	default:
		return event.ToolEnd{ToolCallID: id, ToolName: name, Result: r.raw(fResult), IsError: r.isTrue(fIsError), ParentToolCallID: r.string(fParent)}
	}
}

func recoveryEvent(r *record) event.Event {
	switch r.typ {
	case "auto_retry_start":
		message := r.string(fErrorMessage)
		return event.RetryStart{
			ErrorMessage: message, Reason: failureClass(message), DelayMs: int64(integer(r.number(fDelay))),
			Attempt: integer(r.number(fAttempt)), MaxAttempts: integer(r.number(fMaxAttempts)),
		}
	case "auto_retry_end":
		return event.RetryEnd{ErrorMessage: r.string(fFinalError), Attempt: integer(r.number(fAttempt)), Success: r.isTrue(fSuccess)}
	case "compaction_start", "auto_compaction_start":
		return event.CompactionStart{Reason: r.string(fReason)}
	default:
		return event.CompactionEnd{
			Reason: r.string(fReason), Result: r.object(fResult), ErrorMessage: r.string(fErrorMessage),
			Aborted: r.isTrue(fAborted), WillRetry: r.isTrue(fWillRetry),
		}
	}
}

func extensionError(r *record) event.Event {
	name, when, text := r.string(fExtension), r.string(fEvent), r.string(fError)
	return event.Notice{Text: "Extension " + brief(name, maxTitle) + " failed at " + brief(when, maxTitle) + ": " + brief(text, maxNotice)}
}

// brief returns a text of pi's for a place that shows one line: at most limit bytes, without controls.
func brief(s string, limit int) string { return visible.Line(cut(s, limit)) }

// integer converts a number of JSON. A number outside int32 is not a plausible one.
func integer(f float64) int {
	if math.IsNaN(f) || f < math.MinInt32 || f > math.MaxInt32 {
		return 0
	}
	return int(f)
}
