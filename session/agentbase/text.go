package agentbase

import (
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// textOf returns the readable text of a message's content. The format requires a string;
// odd reports that the content is something else, of which the text may be only a part.
// Text blocks of a list are joined by LF.
func textOf(content []byte) (text string, odd bool) {
	switch rawjson.Kind(content) {
	case '"':
		s, _ := rawjson.String(content)
		return s, false
	case '[':
		var parts []string
		rawjson.Elements(content, func(block []byte) bool {
			if s, ok := blockText(block); ok {
				parts = append(parts, s)
			}
			return true
		})
		return strings.Join(parts, "\n"), true
	case '{':
		s, _ := blockText(content)
		return s, true
	case 0, 'n':
		return "", false
	}
	return string(content), true // a number or a truth value
}

// blockText is the text of a block: a string, or an object that has one.
func blockText(block []byte) (string, bool) {
	if s, ok := rawjson.String(block); ok {
		return s, true
	}
	return rawjson.GetString(block, "text")
}
