package compaction

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// resultUnits is how much of a tool's result a summary is made of, in characters.
const resultUnits = 2000

// serialize writes messages as a text to be summarised. They are sent as a text because a model
// that gets a conversation continues it.
func serialize(messages []json.RawMessage) string {
	return strings.Join(written(messages), "\n\n")
}

// split writes messages as texts of at most room bytes each. A message that is longer is cut.
func split(messages []json.RawMessage, room int) (texts []string) {
	var text strings.Builder // adding to a string would copy it for every message
	next := func() {
		texts = append(texts, text.String())
		text.Reset()
	}
	for _, part := range written(messages) {
		part = cutBytes(part, room)
		if text.Len() > 0 && text.Len()+len(part) > room {
			next()
		}
		if text.Len() > 0 {
			text.WriteString("\n\n")
		}
		text.WriteString(part)
	}
	if text.Len() > 0 || len(messages) > 0 {
		next()
	}
	return texts
}

// written returns messages as texts.
func written(messages []json.RawMessage) (parts []string) {
	for _, m := range convert.Messages(messages) {
		switch m.Role {
		case provider.RoleUser:
			if text := m.PlainText(); text != "" {
				parts = append(parts, "[User]: "+text)
			}
		case provider.RoleAssistant:
			parts = append(parts, answer(m)...)
		case provider.RoleToolResult:
			if text := m.PlainText(); text != "" {
				parts = append(parts, "[Tool result]: "+cut(text))
			}
		}
	}
	return parts
}

func answer(m provider.Message) (parts []string) {
	if text := m.PlainText(); text != "" {
		parts = append(parts, "[Assistant]: "+text)
	}
	var calls []string
	for _, c := range m.ToolCalls() {
		var args []string
		rawjson.Members(c.Arguments, func(key, val []byte) bool {
			name, _ := rawjson.String(key)
			args = append(args, name+"="+string(val))
			return true
		})
		calls = append(calls, c.Name+"("+strings.Join(args, ", ")+")")
	}
	if calls != nil {
		parts = append(parts, "[Assistant tool calls]: "+strings.Join(calls, "; "))
	}
	return parts
}

func cut(text string) string {
	n := rawjson.UTF16Len(text)
	if n <= resultUnits {
		return text
	}
	return rawjson.UTF16Prefix(text, resultUnits) + fmt.Sprintf("\n\n[... %d more characters truncated]", n-resultUnits)
}

func cutBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	kept := strings.ToValidUTF8(text[:n], "")
	return kept + fmt.Sprintf("\n\n[... %d more bytes truncated]", len(text)-len(kept))
}
