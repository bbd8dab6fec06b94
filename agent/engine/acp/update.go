package acp

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// update is an update of a session, of any kind.
type update struct {
	Kind      string          `json:"sessionUpdate"`
	Content   json.RawMessage `json:"content"` // a block, or the parts of a tool call's output
	MessageID string          `json:"messageId"`

	toolCall

	Entries  json.RawMessage `json:"entries"`           // of a plan
	Commands json.RawMessage `json:"availableCommands"` //
	Mode     string          `json:"currentModeId"`     //
	Options  json.RawMessage `json:"configOptions"`     //
	Used     *float64        `json:"used"`              // tokens
	Size     *float64        `json:"size"`              // tokens
	Cost     struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
}

// toolCall is a tool call, or a change of one: absent members have not changed.
type toolCall struct {
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Name      string          `json:"name"`
	ToolKind  string          `json:"kind"`
	Status    string          `json:"status"`
	RawInput  json.RawMessage `json:"rawInput"`
	RawOutput json.RawMessage `json:"rawOutput"`
	Locations []wire.Location `json:"locations"`

	Meta struct {
		Terminal struct {
			Data string `json:"data"` // a piece of the output of a command
		} `json:"terminal_output"`
	} `json:"_meta"`
}

// updated handles an update. The caller has serial.
func (e *Engine) updated(params json.RawMessage) {
	var p struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	lenient(params, &p)
	var u update
	lenient(p.Update, &u)
	e.mu.Lock()
	session := e.session
	e.mu.Unlock()
	if session != "" && p.SessionID != session {
		e.link.once("session", "an update of an unknown session")
		return
	}
	if e.talked(u) {
		return
	}
	switch u.Kind {
	case wire.UpdateCommands:
		e.setCommands(u.Commands)
	case wire.UpdateMode:
		e.setModeTo(u.Mode)
	case wire.UpdateOptions:
		e.optionsChanged(u.Options)
	case wire.UpdateInfo:
		e.setTitle(u.Title)
	case wire.UpdateUsage:
		e.setUsage(u)
	case wire.UpdateUserChunk:
		// The prompt is known, and a replay is not wanted.
	default:
		e.link.once("update "+u.Kind, "an unknown update")
	}
}

// talked handles the updates that belong to a turn. Those that arrive without one are of a replay, or late.
func (e *Engine) talked(u update) bool {
	t := e.turn
	switch u.Kind {
	case wire.UpdateAgentChunk, wire.UpdateThoughtChunk, wire.UpdateToolCall, wire.UpdateToolProgress, wire.UpdatePlan:
	default:
		return false
	}
	if t == nil {
		e.link.once("late "+u.Kind, "an update outside of a turn")
		return true
	}
	switch u.Kind {
	case wire.UpdateAgentChunk:
		t.chunk(textOfBlock(u.Content), u.MessageID, false)
	case wire.UpdateThoughtChunk:
		t.chunk(textOfBlock(u.Content), u.MessageID, true)
	case wire.UpdatePlan:
		t.plan(u.Entries)
	default:
		t.called(u.toolCall, u.Content, u.Kind == wire.UpdateToolCall)
	}
	return true
}

// textOfBlock returns the text of a piece of an answer. Other content is replaced by its type.
func textOfBlock(raw json.RawMessage) string {
	var b wire.ContentBlock
	lenient(raw, &b)
	switch b.Type {
	case "text":
		return b.Text
	case "resource_link":
		return b.URI
	case "resource":
		if b.Resource != nil && b.Resource.Text != nil {
			return *b.Resource.Text
		}
		return ""
	case "image", "audio":
		return "[" + b.Type + "]"
	default:
		return ""
	}
}

func (e *Engine) setCommands(raw json.RawMessage) {
	commands := []engine.Command{}
	compact := e.kind.native
	rawjson.Elements(raw, func(item []byte) bool {
		id, _ := rawjson.GetString(item, "name")
		text, _ := rawjson.GetString(item, "description")
		if id = name(id); id == "" {
			return true
		}
		compact = compact || id == compactCommand
		commands = append(commands, engine.Command{Name: id, Description: cut(text, maxSentence)})
		return len(commands) < maxCommands
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.commands, e.can.Compact = commands, compact
}

// setModeTo notes the mode that the agent is in now. The user learns of one in which it may ask for less.
func (e *Engine) setModeTo(mode string) {
	e.mu.Lock()
	was := e.mode
	e.mode = mode
	text := e.modes[mode]
	e.mu.Unlock()
	if text == "" {
		text = mode
	}
	if mode != was && mode != "" && e.place.Permit && e.kind.asking != "" && mode != e.kind.asking {
		e.host.Emit(event.Notice{Text: e.program.Name + " is in the mode “" + name(text) + "” now, and asks for permission as that mode says."})
	}
}

func (e *Engine) optionsChanged(raw json.RawMessage) {
	options := optionsOf(raw)
	if options == nil {
		return
	}
	e.mu.Lock()
	before, mode := e.choiceLocked(), e.mode
	e.setOptionsLocked(options)
	after, now := e.choiceLocked(), e.mode
	e.mode = mode
	e.mu.Unlock()
	e.setModeTo(now)
	if after.Model != before.Model {
		e.host.Emit(event.ModelChanged{Model: after.Model})
	}
	if after.Thinking != before.Thinking {
		e.host.Emit(event.ThinkingLevelChanged{ThinkingLevel: after.Thinking})
	}
}

func (e *Engine) setTitle(title string) {
	title = name(title)
	e.mu.Lock()
	same := title == "" || title == e.title
	if !same {
		e.title = title
	}
	e.mu.Unlock()
	if !same {
		e.host.Emit(event.SessionInfoChanged{Name: title})
	}
}

func (e *Engine) setUsage(u update) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if u.Used != nil {
		e.used = bounded(*u.Used)
	}
	if u.Size != nil {
		e.window = bounded(*u.Size)
	}
	if u.Cost.Currency == "USD" && u.Cost.Amount >= 0 && u.Cost.Amount < 1e9 {
		e.spent = u.Cost.Amount
	}
}

// bounded is a number of an agent that can be counted with.
func bounded(n float64) int { return int(max(0, min(n, 1e9))) }
