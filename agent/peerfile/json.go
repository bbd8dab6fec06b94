package peerfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Member is a member of a JSON object with its value as JSON.
type Member struct {
	Name  string
	Value []byte
}

var (
	errNoObject = errors.New("it is not a JSON object")
	errForm     = errors.New("its form is not supported")
)

// SetMembers returns the JSON object content with other values of some members. Every other byte stays.
func SetMembers(content []byte, members ...Member) ([]byte, error) {
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
		if rawjson.Get(edited, m.Name) != nil {
			edited = rawjson.Set(edited, m.Name, m.Value)
		} else {
			edited = addMember(edited, m)
		}
		var value any
		if err := json.Unmarshal(m.Value, &value); err != nil {
			return nil, err
		}
		before[m.Name] = value
	}
	// The parser that checks the result is not the one that made it.
	if err := json.Unmarshal(edited, &after); err != nil || !reflect.DeepEqual(before, after) {
		return nil, errForm
	}
	return edited, nil
}

// DeleteMember returns the JSON object content without a member. Every other byte stays, but for a comma.
func DeleteMember(content []byte, name string) ([]byte, error) {
	var before, after map[string]any
	if err := json.Unmarshal(content, &before); err != nil {
		return nil, err
	}
	edited := rawjson.Delete(content, name)
	delete(before, name)
	if err := json.Unmarshal(edited, &after); err != nil || !reflect.DeepEqual(before, after) {
		return nil, errForm
	}
	return edited, nil
}

// addMember adds a member at the end, laid out as the first one.
func addMember(object []byte, m Member) []byte {
	text := string(object)
	end := strings.LastIndexByte(text, '}')
	last := len(strings.TrimRight(text[:end], " \t\r\n")) // behind the last value, or the brace
	first := strings.IndexByte(text, '{') + 1
	space := text[first : first+strings.IndexFunc(text[first:], func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) })]
	comma, tail := ",", text[last:]
	if last == first {
		line := Newline(object)
		comma, space, tail = "", line+"  ", line+text[end:]
	}
	return []byte(text[:last] + comma + space + string(rawjson.Quote(m.Name)) + ": " + string(m.Value) + tail)
}
