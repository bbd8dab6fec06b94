package agentbase

import (
	"encoding/json"
	"iter"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// The types of the custom entries that an imported conversation has. No model is shown them.
const (
	MarkType   = "xcsh-ls.import"        // the source of the conversation; the first entry
	IndexType  = "xcsh-ls.import.index"  // the values of the messages that a session cannot represent
	ToolType   = "xcsh-ls.import.tool"   // a tool's message, or calls of tools
	SystemType = "xcsh-ls.import.system" // a system message
	OtherType  = "xcsh-ls.import.other"  // a message with an unknown role
)

// Losses counts, by kind, the parts of a conversation that agent-base cannot represent:
// thinking, images, toolCalls, toolResults, commands, customMessages, summaries, other.
type Losses map[string]int

// Branch is the active branch of a session on its way to agent-base.
type Branch struct {
	// Entries yields the entries from the root to the leaf. It may be iterated several times.
	Entries iter.Seq2[json.RawMessage, error]
	Tools   bool // keep the results of tools
}

// Messages yields the messages that agent-base can represent. Their ids are those of the
// entries; a message without a readable time gets the time of the previous one plus a
// millisecond. Omitted messages are counted in losses, which may be nil.
func (b Branch) Messages(losses Losses) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		back := backward{tools: b.Tools, losses: losses}
		for raw, err := range b.Entries {
			if err != nil {
				yield(Message{}, err)
				return
			}
			m, ok := back.entry(raw)
			if !ok {
				continue
			}
			m.ID = stringOf(raw, "id")
			m.At = back.time(raw)
			if !yield(m, nil) {
				return
			}
		}
	}
}

// backward turns entries into messages.
type backward struct {
	tools  bool
	losses Losses
	last   time.Time
}

func (b *backward) lose(kind string, n int) {
	if b.losses != nil && n > 0 {
		b.losses[kind] += n
	}
}

func (b *backward) time(raw []byte) time.Time {
	at, ok := parseTime(rawjson.Get(raw, "timestamp"), time.UTC)
	if !ok {
		at, ok = parseTime(rawjson.Get(raw, "message", "timestamp"), time.UTC)
	}
	if !ok {
		at = b.last.Add(time.Millisecond)
	}
	b.last = at
	return at
}

// entry returns the message of an entry. ok is false if the entry has none.
func (b *backward) entry(raw []byte) (m Message, ok bool) {
	switch stringOf(raw, "type") {
	case "message":
		return b.message(rawjson.Get(raw, "message"))
	case "custom":
		return b.imported(stringOf(raw, "customType"), rawjson.Get(raw, "data"))
	case "custom_message":
		b.lose("customMessages", 1)
	case "compaction", "branch_summary":
		b.lose("summaries", 1)
	}
	return Message{}, false
}

func (b *backward) message(v []byte) (m Message, ok bool) {
	m.Role = stringOf(v, "role")
	switch m.Role {
	case RoleUser, RoleAssistant:
		m.Text, ok = b.content(rawjson.Get(v, "content"))
	case "toolResult":
		if !b.tools {
			b.lose("toolResults", 1)
			return m, false
		}
		m.Role, m.Name, m.ToolCallID = RoleTool, stringOf(v, "toolName"), stringOf(v, "toolCallId")
		m.Text, _ = b.content(rawjson.Get(v, "content"))
		ok = true
	case "bashExecution", "pythonExecution":
		b.lose("commands", 1)
	case "custom", "hookMessage":
		b.lose("customMessages", 1)
	default:
		b.lose("other", 1)
	}
	return m, ok
}

// content is the text of a message. ok is false if there is no text, not even an empty
// one.
func (b *backward) content(v []byte) (text string, ok bool) {
	if s, isText := rawjson.String(v); isText {
		return s, true
	}
	var parts []string
	rawjson.Elements(v, func(block []byte) bool {
		switch stringOf(block, "type") {
		case "text":
			parts = append(parts, stringOf(block, "text"))
		case "thinking", "redactedThinking":
			b.lose("thinking", 1)
		case "image":
			b.lose("images", 1)
		case "toolCall":
			b.lose("toolCalls", 1)
		default:
			b.lose("other", 1)
		}
		return true
	})
	return strings.Join(parts, "\n"), len(parts) > 0
}

// imported restores a message that an import stored in a custom entry.
func (b *backward) imported(customType string, data []byte) (m Message, ok bool) {
	m.Text = stringOf(data, "content")
	switch customType {
	case SystemType:
		m.Role = RoleSystem
		return m, true
	case ToolType:
		calls := 0
		rawjson.Elements(rawjson.Get(data, "calls"), func([]byte) bool { calls++; return true })
		b.lose("toolCalls", calls)
		if calls > 0 {
			return m, false
		}
		if !b.tools {
			b.lose("toolResults", 1)
			return m, false
		}
		m.Role, m.Name, m.ToolCallID = RoleTool, stringOf(data, "name"), stringOf(data, "toolCallId")
		return m, true
	case OtherType:
		b.lose("other", 1)
	}
	return m, false
}
