package senses

import (
	"encoding/json"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// hoverText returns the text of an answer to hover: MarkupContent, a Hover with contents, or the marked strings of older
// language servers.
func hoverText(raw json.RawMessage) string {
	var parts []string
	elements := []json.RawMessage{raw}
	if contents := member(raw, "contents"); contents != nil {
		elements = []json.RawMessage{contents}
	}
	if several := list[json.RawMessage](elements[0]); several != nil {
		elements = several
	}
	for _, element := range elements[:min(len(elements), 20)] {
		var text string
		if markup, ok := object[HoverResult](element); ok {
			text = markup.Value
		} else if json.Unmarshal(element, &text) != nil {
			continue
		}
		if text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD")); text != "" {
			parts = append(parts, cut(text, maxHover))
		}
	}
	return cut(visible.Text(strings.Join(parts, "\n\n")), maxHover)
}
