package agentbase

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strconv"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// unknown is written for an unknown provider or model.
const unknown = "unknown"

// Lengths in UTF-16 units.
const (
	previewLength = 200 // of the first message in the metadata
	topicLength   = 100 // of the first topic in the summary
)

// Metadata is the metadata of a session file's conversation. Times are UTC.
type Metadata struct {
	ID, Name, Description string // the id is the file's name without its ending
	Created, LastActivity time.Time
	Provider, Model       string // "" is written as unknown

	// These, and the last activity, are found by [Metadata.Survey].
	Messages, User, Assistant int
	First                     string // the complete first message of the user
	HasFirst                  bool
}

// Survey counts messages into m, whose last activity becomes the time of the latest.
func (m *Metadata) Survey(messages iter.Seq2[Message, error]) error {
	m.Messages, m.User, m.Assistant, m.First, m.HasFirst = 0, 0, 0, "", false
	m.LastActivity = m.Created
	for message, err := range messages {
		if err != nil {
			return err
		}
		m.Messages++
		if message.At.After(m.LastActivity) {
			m.LastActivity = message.At
		}
		switch message.Role {
		case RoleUser:
			if m.User++; !m.HasFirst {
				m.First, m.HasFirst = message.Text, true
			}
		case RoleAssistant:
			m.Assistant++
		}
	}
	return nil
}

// object is the metadata as one JSON object. A preview ends before a character that does
// not fit; the program itself would keep half of it.
func (m *Metadata) object() []byte {
	o := new(rawjson.Object).String("id", m.ID).String("name", m.Name)
	if m.Description != "" {
		o.String("description", m.Description)
	}
	return o.String("createdAt", formatTime(m.Created)).String("lastActivityAt", formatTime(m.LastActivity)).
		Raw("messageCount", strconv.AppendInt(nil, int64(m.Messages), 10)).
		String("firstMessage", rawjson.UTF16Prefix(m.First, previewLength)).
		String("provider", cmp.Or(m.Provider, unknown)).String("model", cmp.Or(m.Model, unknown)).Bytes()
}

// object is the message as one JSON object, without missing members.
func (m *Message) object() []byte {
	o := new(rawjson.Object).String("role", m.Role).String("content", m.Text)
	for _, member := range [...]struct{ key, text string }{{"name", m.Name}, {"toolCallId", m.ToolCallID}} {
		if member.text != "" {
			o.String(member.key, member.text)
		}
	}
	o.String("id", m.ID).String("timestamp", formatTime(m.At))
	if m.TurnIndex > 0 {
		o.Raw("turnIndex", strconv.AppendInt(nil, int64(m.TurnIndex), 10))
	}
	return o.Bytes()
}

// Write writes a session file: JSON in lines, indented by two spaces, without a newline at
// the end. m must have been counted from the same messages.
func Write(w io.Writer, m Metadata, messages iter.Seq2[Message, error]) error {
	p := printer{w: w}
	p.print("{\n  \"metadata\": ")
	p.value(m.object(), "  ")
	p.print(",\n  \"messages\": [")
	separator := ""
	for message, err := range messages {
		if err = errors.Join(err, p.err); err != nil {
			return err
		}
		p.print(separator + "\n    ")
		p.value(message.object(), "    ")
		separator = ","
	}
	if separator != "" {
		p.print("\n  ")
	}
	p.print("],\n  \"contextSummary\": ")
	p.print(string(rawjson.Quote(m.Summary())))
	p.print("\n}")
	return p.err
}

// printer writes until the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) print(s string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, s)
	}
}

// value writes a JSON value in lines; prefix is before each but the first.
func (p *printer) value(v []byte, prefix string) {
	var b bytes.Buffer
	if err := json.Indent(&b, v, prefix, "  "); err != nil && p.err == nil {
		p.err = err
	}
	p.print(b.String())
}
