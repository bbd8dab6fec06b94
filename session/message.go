package session

import (
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// MessageText is what a person reads in a message: its content, or the text blocks
// of its content joined by one space. Thinking and tool calls are not in it.
func MessageText(message []byte) string {
	content := rawjson.Get(message, "content")
	if s, ok := rawjson.String(content); ok {
		return s
	}
	var parts []string
	rawjson.Elements(content, func(block []byte) bool {
		if typ, _ := rawjson.GetString(block, "type"); typ == "text" {
			text, _ := rawjson.GetString(block, "text")
			parts = append(parts, text)
		}
		return true
	})
	return strings.Join(parts, " ")
}
