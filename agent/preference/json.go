package preference

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// member is a member of pi's settings.
type member struct{ name, value string }

var errNoObject = errors.New("it is not a JSON object")

// setMembers returns the JSON object content with other values of some members. Every other byte stays.
func setMembers(content []byte, members ...member) ([]byte, error) {
	if len(bytes.TrimSpace(content)) == 0 {
		content = append([]byte("{}"), content...)
	}
	var before, after map[string]any
	if err := json.Unmarshal(content, &before); err != nil {
		return nil, err
	}
	if before == nil {
		return nil, errNoObject
	}
	edited := content
	for _, m := range members {
		if rawjson.Get(edited, m.name) != nil {
			edited = rawjson.SetString(edited, m.name, m.value)
		} else {
			edited = addMember(edited, m)
		}
		before[m.name] = m.value
	}
	// The parser that checks the result is not the one that made it.
	if err := json.Unmarshal(edited, &after); err != nil || !reflect.DeepEqual(before, after) {
		return nil, errors.New("its form is not supported")
	}
	return edited, nil
}

// addMember adds a member at the end, laid out as the first one.
func addMember(object []byte, m member) []byte {
	text := string(object)
	end := strings.LastIndexByte(text, '}')
	last := len(strings.TrimRight(text[:end], " \t\r\n")) // behind the last value, or the brace
	first := strings.IndexByte(text, '{') + 1
	space := text[first : first+strings.IndexFunc(text[first:], func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) })]
	comma, tail := ",", text[last:]
	if last == first {
		line := newline(object)
		comma, space, tail = "", line+"  ", line+text[end:]
	}
	return []byte(text[:last] + comma + space + string(rawjson.Quote(m.name)) + ": " + string(rawjson.Quote(m.value)) + tail)
}
