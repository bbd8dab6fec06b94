package agentbase

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// byteOrderMark may precede UTF-8.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// Read reads a session file. id is the file's name without its extension, zone the zone of
// times without one.
//
// The error says why the file cannot be read as a session; its text continues a sentence
// that begins with the file's name.
func Read(content []byte, id string, zone *time.Location) (Conversation, error) {
	content = bytes.TrimSpace(bytes.TrimPrefix(content, byteOrderMark))
	switch {
	case len(content) > MaxFile:
		return Conversation{}, TooLarge(int64(len(content)))
	case len(content) == 0:
		return Conversation{}, errors.New("is empty")
	case !json.Valid(content): // also rejects excessive nesting
		return Conversation{}, errors.New("is not JSON, or only a part of it")
	case rawjson.Kind(content) != '{':
		return Conversation{}, errors.New("is JSON but no session: it is not an object")
	}
	c, err := read(content, id, zone)
	if err != nil {
		return Conversation{}, err
	}
	if len(c.Messages) == 0 {
		return Conversation{}, errors.New("holds no messages; there is nothing to import")
	}
	return c, nil
}

// TooLarge is the error for a file of so many bytes.
func TooLarge(size int64) error {
	return fmt.Errorf("has %d MiB; files above %d MiB are not read", size>>20, MaxFile>>20)
}

func read(content []byte, id string, zone *time.Location) (Conversation, error) {
	switch messages := rawjson.Get(content, "messages"); {
	case rawjson.Kind(messages) == '[':
		return readTypeScript(content, messages, id, zone), nil
	case rawjson.Get(content, "thread") != nil:
		return readPython(content, id, zone)
	case rawjson.Get(content, "sessions") != nil, rawjson.Get(content, "conversations") != nil:
		return Conversation{}, errors.New("is an index of sessions and no session")
	case messages != nil:
		return Conversation{}, errors.New("is no session: its messages are not a list")
	}
	return Conversation{}, errors.New("is JSON but no session: it has no messages")
}

func readTypeScript(content, messages []byte, id string, zone *time.Location) Conversation {
	c := Conversation{Format: TypeScript, ID: id, Name: id}
	meta := rawjson.Get(content, "metadata")
	if rawjson.Kind(meta) == '{' {
		c.Metadata = meta
		c.Name = cmp.Or(stringOf(meta, "name"), id)
		c.Description = stringOf(meta, "description")
		c.Created, _ = parseTime(rawjson.Get(meta, "createdAt"), zone)
		c.LastActivity, _ = parseTime(rawjson.Get(meta, "lastActivityAt"), zone)
		c.Provider, c.Model = known(stringOf(meta, "provider")), known(stringOf(meta, "model"))
	}
	c.Summary = stringOf(content, "contextSummary")
	rawjson.Elements(messages, func(raw []byte) bool {
		m := message(raw, zone)
		m.Text, m.Odd = textOf(rawjson.Get(raw, "content"))
		c.Messages = append(c.Messages, m)
		return true
	})
	return c
}

// message reads the members that the messages of both generations share. A message that is
// not an object consists of its raw form only.
func message(raw []byte, zone *time.Location) Message {
	m := Message{
		Raw: raw, Role: stringOf(raw, "role"), ID: stringOf(raw, "id"),
		Name: stringOf(raw, "name"), ToolCallID: stringOf(raw, "toolCallId"),
	}
	m.At, _ = parseTime(rawjson.Get(raw, "timestamp"), zone)
	if n, ok := rawjson.Float(rawjson.Get(raw, "turnIndex")); ok && n >= 1 && n < 1<<31 {
		m.TurnIndex = int(n)
	}
	return m
}

// known is s, or "" for the word that stands for an unknown value.
func known(s string) string {
	if s == unknown {
		return ""
	}
	return s
}

func stringOf(v []byte, path ...string) string {
	s, _ := rawjson.GetString(v, path...)
	return s
}
