package provider

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Locate returns the index of the message to which a rejected part of a request belongs, -1 if that
// is not certain. The messages are those of the request, and part is [Error.Part].
func Locate(messages []Message, part json.RawMessage) int {
	var value any
	if len(part) == 0 || json.Unmarshal(part, &value) != nil {
		return -1
	}
	texts := map[string]bool{}
	collect(value, texts)
	result := texts["tool_result"] || texts["function_call_output"] || texts["tool"] ||
		bytes.Contains(part, []byte(`"functionResponse"`)) || bytes.Contains(part, []byte(`"toolResult"`))
	found := unique(messages, func(m Message) bool { return m.hasAny(texts, result) })
	if found < 0 && result { // some services have no ids
		found = unique(messages, func(m Message) bool { return m.Role == RoleToolResult && texts[m.PlainText()] })
	}
	return found
}

// unique returns the index of the only message that matches, -1 if there is none or another one.
func unique(messages []Message, match func(Message) bool) int {
	found := -1
	for i, m := range messages {
		if !match(m) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// collect adds the texts of a JSON value.
func collect(value any, to map[string]bool) {
	switch v := value.(type) {
	case string:
		to[v] = true
	case []any:
		for _, e := range v {
			collect(e, to)
		}
	case map[string]any:
		for _, e := range v {
			collect(e, to)
		}
	}
}

// hasAny reports whether a text identifies the message. result reports whether the texts are those of a
// tool's result: it shares its id with the call.
func (m Message) hasAny(texts map[string]bool, result bool) bool {
	if m.Role == RoleToolResult || result {
		id, _, _ := strings.Cut(m.ToolCallID, "|") // as the Responses API has it
		return m.Role == RoleToolResult && result && (texts[m.ToolCallID] || texts[id])
	}
	for _, b := range m.Content {
		id, _, _ := strings.Cut(b.ID, "|")
		for _, text := range []string{b.Text, b.ThinkingSignature, b.Thinking, b.Data, b.ID, id} {
			if text != "" && texts[text] {
				return true
			}
		}
		if b.Type == TypeImage && texts["data:"+b.MimeType+";base64,"+b.Data] {
			return true
		}
	}
	return false
}

// WithoutThinking returns the messages without thinking and signatures up to a time, in milliseconds
// since 1970. found reports whether there are any. The answers are then like those of another model.
func WithoutThinking(messages []Message, until int64) (out []Message, found bool) {
	for _, m := range messages {
		if m.Role == RoleAssistant && m.Timestamp <= until {
			had := false
			if m.Content, had = unsigned(m.Content); had {
				found, m.Model = true, ""
			}
		}
		out = append(out, m)
	}
	return out, found
}

func unsigned(content []Block) (out []Block, found bool) {
	for _, b := range content {
		found = found || b.Type == TypeThinking || b.TextSignature != "" || b.ThoughtSignature != ""
		b.TextSignature, b.ThoughtSignature = "", ""
		if b.Type != TypeThinking {
			out = append(out, b)
		}
	}
	return out, found
}
