package agentbase

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// readPython reads a file of the Python generation. Its thread is either the program's own
// list of messages or the equivalent of its framework, which has the same data under other
// names; any other form is known to that framework alone.
func readPython(content []byte, id string, zone *time.Location) (Conversation, error) {
	messages := rawjson.Get(content, "thread", "messages")
	if rawjson.Kind(messages) != '[' {
		messages = rawjson.Get(content, "thread", "chat_message_store_state", "messages")
	}
	if rawjson.Kind(messages) != '[' {
		return Conversation{}, errors.New("keeps its messages in a form that only the program that wrote it reads")
	}
	c := Conversation{Format: Python, ID: id, Name: cmp.Or(stringOf(content, "name"), id), Description: stringOf(content, "description")}
	c.Created, _ = parseTime(rawjson.Get(content, "created_at"), zone)
	c.LastActivity, _ = parseTime(rawjson.Get(content, "updated_at"), zone)
	c.Metadata = withoutMessages(content)
	rawjson.Elements(messages, func(raw []byte) bool {
		c.Messages = append(c.Messages, pythonMessage(raw, zone))
		return true
	})
	return c, nil
}

// withoutMessages returns the file without its messages; of the thread only the metadata
// stays.
func withoutMessages(content []byte) []byte {
	out := new(rawjson.Object)
	rawjson.Members(content, func(key, val []byte) bool {
		if name, _ := rawjson.String(key); name != "thread" {
			out.Raw(name, val)
		}
		return true
	})
	if meta := rawjson.Get(content, "thread", "metadata"); meta != nil {
		out.Raw("thread", new(rawjson.Object).Raw("metadata", meta).Bytes())
	}
	return out.Bytes()
}

func pythonMessage(raw []byte, zone *time.Location) Message {
	m := message(raw, zone)
	m.ID = cmp.Or(m.ID, stringOf(raw, "message_id"))
	if m.Role == "" {
		m.Role = stringOf(raw, "role", "value")
	}
	// The role may be written as the name of a constant.
	m.Role = strings.TrimPrefix(strings.ToLower(m.Role), "role.")
	content := rawjson.Get(raw, "content")
	if content == nil {
		content = rawjson.Get(raw, "contents")
	}
	m.Text, m.Odd = textOf(content)
	m.addCalls(rawjson.Get(raw, "tool_calls"))
	rawjson.Elements(content, func(block []byte) bool {
		m.addBlock(block)
		return true
	})
	return m
}

// addCalls adds the calls in the program's own form.
func (m *Message) addCalls(calls []byte) {
	rawjson.Elements(calls, func(call []byte) bool {
		m.Calls = append(m.Calls, Call{Name: stringOf(call, "name"), Arguments: argumentsOf(call)})
		return true
	})
}

// addBlock takes the non-text parts of a block of the framework: calls and their results.
func (m *Message) addBlock(block []byte) {
	switch stringOf(block, "type") {
	case "function_call":
		m.Calls = append(m.Calls, Call{Name: stringOf(block, "name"), Arguments: argumentsOf(block)})
	case "function_result":
		m.ToolCallID = cmp.Or(m.ToolCallID, stringOf(block, "call_id"))
		if result, _ := textOf(rawjson.Get(block, "result")); m.Text == "" {
			m.Text = result
		}
	}
}

// argumentsOf returns a call's arguments: a string as it is, anything else as JSON.
func argumentsOf(call []byte) string {
	v := rawjson.Get(call, "arguments")
	if s, ok := rawjson.String(v); ok {
		return s
	}
	return string(v)
}
