package senses

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// The limits of an answer.
const (
	maxAnswer      = 8 << 20 // bytes
	maxRead        = 20_000  // elements of a list
	maxMessage     = 500     // bytes of a diagnostic's message
	maxName        = 200     // bytes of a name or a title
	maxHover       = 16 << 10
	maxNesting     = 16      // levels of symbols
	maxLine        = 1 << 30 // the largest number in a position
	maxDiagnostics = 200
	maxLocations   = 50
	maxSymbols     = 200
	maxActions     = 100
	maxEditors     = 100
)

// list returns the elements of a list that have the right shape. Others are left out; anything but a list has none.
func list[T any](raw json.RawMessage) []T {
	raw = bytes.TrimSpace(raw)
	var elements []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &elements) != nil {
		return nil
	}
	values := make([]T, 0, min(len(elements), maxRead))
	for _, element := range elements[:min(len(elements), maxRead)] {
		if v, ok := object[T](element); ok {
			values = append(values, v)
		}
	}
	return values
}

// object decodes an object. ok is false for any other value, and for an object with a member of a wrong type.
func object[T any](raw json.RawMessage) (v T, ok bool) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &v) != nil {
		var zero T
		return zero, false
	}
	return v, true
}

// member returns a member of an object, nil if there is none.
func member(raw json.RawMessage, name string) json.RawMessage {
	members, _ := object[map[string]json.RawMessage](raw)
	return members[name]
}

// valid reports whether a position can be one.
func (p Position) valid() bool {
	return 0 <= p.Line && p.Line <= maxLine && 0 <= p.Character && p.Character <= maxLine
}

func (r Range) valid() bool {
	return r.Start.valid() && r.End.valid() && (r.Start.Line < r.End.Line || r.Start.Line == r.End.Line && r.Start.Character <= r.End.Character)
}

// shown returns a text of the editor as one readable line of at most so many bytes.
func shown(text string, most int) string {
	text = strings.TrimSpace(text)
	if len(text) > 4*most {
		text = text[:4*most] // the rest cannot be shown in any case
	}
	text = visible.Line(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "))
	return cut(text, most)
}

// cut returns at most so many bytes of a text, and a mark if there are more.
func cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// locations reads a Location, a list of them, or a list of LocationLinks.
func locations(raw json.RawMessage) (found []Location) {
	elements := list[json.RawMessage](raw)
	if one, ok := object[json.RawMessage](raw); ok {
		elements = []json.RawMessage{one}
	}
	type link struct {
		URI       string `json:"targetUri"`
		Range     Range  `json:"targetRange"`
		Selection *Range `json:"targetSelectionRange"`
	}
	for _, element := range elements {
		l, ok := object[Location](element)
		if to, isLink := object[link](element); isLink && to.URI != "" {
			l, ok = Location{to.URI, to.Range}, true
			if to.Selection != nil {
				l.Range = *to.Selection
			}
		}
		if ok && l.URI != "" && l.Range.valid() {
			found = append(found, l)
		}
	}
	return found
}
