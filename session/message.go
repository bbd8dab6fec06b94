package session

import (
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Role returns the role of entry i, "" for an entry that is not a message. It does not
// access the file.
func (d *Document) Role(i int) string {
	role := d.tree.role(i)
	if d.tree.migrated != nil && role == hookMessage {
		return "custom"
	}
	return role
}

// messageWith is [Entry.Message] that also sets values to the members of the message that
// names list, nil for missing ones. It walks the line once.
func (e Entry) messageWith(names []string, values [][]byte) []byte {
	if e.Type != TypeMessage {
		return nil
	}
	return rawjson.Pick(e.Raw, "message", names, values)
}

// textNames are the members that make up a text block.
var textNames = []string{"type", "text"}

// MessageText returns the readable text of a message: its content, or the text blocks of
// its content joined by one space. Thinking and tool calls are not in it.
func MessageText(message []byte) string {
	content := rawjson.Get(message, "content")
	if s, ok := rawjson.String(content); ok {
		return s
	}
	var parts []string
	eachText(content, func(text []byte) bool {
		s, _ := rawjson.String(text)
		parts = append(parts, s)
		return true
	})
	return strings.Join(parts, " ")
}

// MessageBeginning returns the first n UTF-16 units of [MessageText]. It reads little more
// than that, because a message can be megabytes long.
func MessageBeginning(message []byte, n int) string {
	content := rawjson.Get(message, "content")
	if s, ok := rawjson.StringPrefix(content, n); ok {
		return s
	}
	var parts []string
	units := -1 // with the spaces between parts
	eachText(content, func(text []byte) bool {
		s, _ := rawjson.StringPrefix(text, n)
		parts = append(parts, s)
		units += 1 + rawjson.UTF16Len(s)
		return units < n
	})
	return rawjson.UTF16Prefix(strings.Join(parts, " "), n)
}

// eachText calls f with the raw text of each text block of content until f returns false.
func eachText(content []byte, f func(text []byte) bool) {
	rawjson.Elements(content, func(block []byte) bool {
		var values [2][]byte
		rawjson.GetEach(block, textNames, values[:])
		if typ, _ := rawjson.String(values[0]); typ != "text" {
			return true
		}
		return f(values[1])
	})
}
