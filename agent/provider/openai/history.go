package openai

import (
	"regexp"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Limits of a compacted history. A longer one is not sent.
const (
	maxHistoryBytes = 8 << 20
	maxHistoryItems = 4096
)

// compactedItem is a conversation that only the service can read.
type compactedItem struct {
	Type      string `json:"type"`
	Encrypted string `json:"encrypted_content"`
}

// maxCallID is the longest id of a call that the service accepts.
const maxCallID = 64

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// history returns the items of a history that the service made, or nil if it cannot be sent; then
// its summary in words is.
//
// The items come from a file. Only those of known types are sent, and of these only the known
// members: no reference to what the service stores, no message in the name of the
// operator, no call without its result. Thinking is left out, because it is only valid together
// with the ids of the items after it.
//
// Differs: omp sends back whatever the file has, except for references.
func history(h *provider.History, m provider.Model) []any {
	if h == nil || len(h.Items) > maxHistoryBytes {
		return nil
	}
	b := historyBuilder{images: m.TakesImages(), calls: map[string]pairing{}}
	count := 0
	rawjson.Elements(h.Items, func(item []byte) bool {
		count++
		b.note(item)
		return count <= maxHistoryItems
	})
	if count > maxHistoryItems {
		return nil
	}
	rawjson.Elements(h.Items, func(item []byte) bool {
		b.add(item)
		return true
	})
	if !b.compacted {
		return nil // the words say more
	}
	return b.items
}

type historyBuilder struct {
	images    bool
	calls     map[string]pairing // by the id of a call
	items     []any
	compacted bool // there is an item that stands for the conversation before it
}

// pairing tells whether a call can be sent: it needs one result, after it.
type pairing int

const (
	unknown pairing = iota
	called
	answered
	unusable
)

// note finds the calls that have a result.
func (b *historyBuilder) note(item []byte) {
	text := textsOf(item)
	id := text("call_id")
	switch typ := text("type"); {
	case typ == "function_call" && b.calls[id] == unknown && id != "" && len(id) <= maxCallID &&
		toolName.MatchString(text("name")) && isObject(text("arguments")):
		b.calls[id] = called
	case typ == "function_call_output" && b.calls[id] == called:
		b.calls[id] = answered
	case typ == "function_call", typ == "function_call_output":
		b.calls[id] = unusable
	}
}

func isObject(s string) bool { return rawjson.Kind([]byte(s)) == '{' && rawjson.Valid([]byte(s)) }

// textsOf returns a function that returns a member that is a text, "" for any other.
func textsOf(item []byte) func(name string) string {
	return func(name string) string {
		s, _ := rawjson.GetString(item, name)
		return s
	}
}

func (b *historyBuilder) add(item []byte) {
	text := textsOf(item)
	typ, id := text("type"), text("call_id")
	switch {
	case typ == "message":
		b.message(item, text("role"), text("phase"))
	case (typ == "compaction" || typ == "compaction_summary") && text("encrypted_content") != "":
		b.items, b.compacted = append(b.items, compactedItem{typ, text("encrypted_content")}), true
	case typ == "function_call" && b.calls[id] == answered:
		b.items = append(b.items, callItem{Type: typ, CallID: id, Name: text("name"), Arguments: text("arguments")})
	case typ == "function_call_output" && b.calls[id] == answered:
		b.items = append(b.items, resultItem{Type: typ, CallID: id, Output: b.output(rawjson.Get(item, "output"))})
	}
}

// message adds a message of the user or the model. What others said, the operator for instance, is
// the user's, because a file speaks only for the user.
func (b *historyBuilder) message(item []byte, role, phase string) {
	m := messageItem{Type: "message", Role: "user", Content: b.parts(rawjson.Get(item, "content"), role == "assistant")}
	if role == "assistant" {
		m.Role = role
		if phase == "commentary" || phase == "final_answer" {
			m.Phase = phase
		}
	}
	if len(m.Content) > 0 {
		b.items = append(b.items, m)
	}
}

// parts returns the texts and images of a message's content.
func (b *historyBuilder) parts(content []byte, answer bool) (parts []any) {
	say := func(text string) {
		switch {
		case text == "":
		case answer:
			parts = append(parts, outputText{"output_text", text, []string{}})
		default:
			parts = append(parts, inputText{"input_text", text})
		}
	}
	if s, ok := rawjson.String(content); ok {
		say(s)
		return parts
	}
	rawjson.Elements(content, func(part []byte) bool {
		switch typ, _ := rawjson.GetString(part, "type"); typ {
		case "input_text", "output_text", "text":
			text, _ := rawjson.GetString(part, "text")
			say(text)
		case "input_image":
			// Only an image that is here: the service would fetch any other address.
			url, _ := rawjson.GetString(part, "image_url")
			if b.images && !answer && strings.HasPrefix(url, "data:image/") {
				parts = append(parts, inputImage{"input_image", "auto", url})
			}
		}
		return true
	})
	return parts
}

// output returns the result of a call: a text, or a list of parts.
func (b *historyBuilder) output(raw []byte) any {
	if s, ok := rawjson.String(raw); ok {
		return s
	}
	if parts := b.parts(raw, false); len(parts) > 0 {
		return parts
	}
	return ""
}
