package importer

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// importMark records in a session where it was imported from. It is the data of the first
// entry, in this order: the members that another import needs come before those that may be
// long.
type importMark struct {
	sum       string // sha256 of the source, in hex
	foreignID string
	format    string
	session   string // the id of the session that the import made; a fork of it has another
	source    string // the source's path
	at        string // when it was imported
}

func (m importMark) data(c agentbase.Conversation) []byte {
	o := new(rawjson.Object).String("sha256", m.sum).String("foreignId", m.foreignID).String("format", m.format).
		String("session", m.session).String("source", m.source).String("importedAt", m.at)
	if c.Summary != "" {
		o.String("contextSummary", c.Summary)
	}
	return o.Raw("metadata", c.Metadata).Bytes()
}

// parseImportMark is the inverse of data for a line that may be truncated within the long
// members. ok is false for any other line.
func parseImportMark(line []byte) (m importMark, ok bool) {
	if t, _ := rawjson.GetString(line, "customType"); t != agentbase.MarkType {
		return m, false
	}
	data := rawjson.Get(line, "data")
	m.sum, ok = rawjson.GetString(data, "sha256")
	m.foreignID, _ = rawjson.GetString(data, "foreignId")
	m.session, _ = rawjson.GetString(data, "session")
	return m, ok
}

// importedLines turns a conversation of agent-base into the lines behind a header: the mark,
// the values of the messages that a session cannot represent, the description, the model,
// the messages, and the title as pi reads it. Messages of tools and system messages become custom entries, which are
// not part of the context: a provider refuses results without their calls, and a session has
// no system messages.
//
// The ids of the entries follow from the source, so that two imports of it have the same. An
// entry without a time of its own gets that of the previous one plus a millisecond, the
// first one created plus a millisecond.
func importedLines(c agentbase.Conversation, mark importMark, created time.Time, title *session.Title) [][]byte {
	b := importer{sum: mark.sum, taken: map[string]bool{}, last: created}
	b.ids = make([]string, beforeMessages+len(c.Messages))
	for i := range b.ids {
		b.ids[i] = b.newID(i)
	}
	b.add(session.DraftCustom(agentbase.MarkType, mark.data(c)), b.ids[0], created)
	if index := b.index(c.Messages); index != nil {
		b.add(session.DraftCustom(agentbase.IndexType, index), b.ids[1], created)
	}
	if d := session.DraftDescription(c.Description); d != nil {
		b.add(d, b.ids[2], created)
	}
	if c.Provider != "" && c.Model != "" {
		b.add(session.DraftModelChange(session.Xcsh, c.Provider, c.Model, ""), b.ids[3], created)
	}
	for i, m := range c.Messages {
		b.message(c, m, b.ids[beforeMessages+i])
	}
	if title != nil && title.Source == "user" {
		b.title(title.Text)
	}
	return b.lines
}

// title adds the entry that repeats the title of the header.
func (b *importer) title(text string) {
	b.lines = append(b.lines, new(rawjson.Object).String("type", string(session.TypeSessionInfo)).String("id", b.moreID()).
		String("parentId", b.parent).String("timestamp", session.FormatTime(b.last)).String("name", text).
		Raw(own.TitleInHeader, []byte("true")).Bytes())
}

// beforeMessages is the maximum number of entries before the messages.
const beforeMessages = 4

// importer collects the lines of an import.
type importer struct {
	sum    string
	ids    []string // of the mark, the index, the description, the model and each message
	taken  map[string]bool
	extra  int // ids beyond those
	parent string
	last   time.Time // of the newest message
	lines  [][]byte
}

// newID is the id of the entry at a position: as many hex digits of a hash as are necessary
// to be unique, at least eight.
func (b *importer) newID(position int) string {
	sum := sha256.Sum256([]byte(b.sum + ":" + strconv.Itoa(position)))
	id := hex.EncodeToString(sum[:])
	n := 8
	for b.taken[id[:n]] && n < len(id) {
		n++
	}
	b.taken[id[:n]] = true
	return id[:n]
}

// moreID is the id of an entry that has no position among the messages.
func (b *importer) moreID() string {
	b.extra++
	return b.newID(len(b.ids) + b.extra - 1)
}

func (b *importer) add(d *session.Draft, id string, at time.Time) {
	b.lines = append(b.lines, d.Line(id, b.parent, session.FormatTime(at)))
	b.parent = id
}

// index returns the values of the messages that a session cannot represent, nil for
// nothing.
func (b *importer) index(messages []agentbase.Message) []byte {
	var rows [][]byte
	for i, m := range messages {
		if m.ID == "" && m.TurnIndex == 0 && !m.At.IsZero() && !m.Odd {
			continue
		}
		rows = append(rows, indexRow(b.ids[beforeMessages+i], m))
	}
	if rows == nil {
		return nil
	}
	return new(rawjson.Object).Raw("messages", rawjson.Array(rows)).Bytes()
}

func indexRow(entryID string, m agentbase.Message) []byte {
	row := new(rawjson.Object).String("entryId", entryID)
	if m.ID != "" {
		row.String("id", m.ID)
	}
	if m.TurnIndex > 0 {
		row.Raw("turnIndex", strconv.AppendInt(nil, int64(m.TurnIndex), 10))
	}
	if m.At.IsZero() {
		row.Raw("timeMissing", []byte("true")).Raw("timestamp", rawjson.Get(m.Raw, "timestamp"))
	}
	if m.Odd {
		row.Raw("content", rawjson.Get(m.Raw, "content")).Raw("contents", rawjson.Get(m.Raw, "contents"))
	}
	return row.Bytes()
}

func (b *importer) message(c agentbase.Conversation, m agentbase.Message, id string) {
	at := m.At
	if at.IsZero() {
		at = b.last.Add(time.Millisecond)
	}
	b.last = at
	switch m.Role {
	case agentbase.RoleUser:
		b.add(session.DraftMessage(new(rawjson.Object).String("role", "user").String("content", m.Text).
			Raw("timestamp", unixMillis(at)).Bytes()), id, at)
	case agentbase.RoleAssistant:
		b.answer(c, m, id, at)
	case agentbase.RoleTool:
		b.add(session.DraftCustom(agentbase.ToolType, toolData(m)), id, at)
	case agentbase.RoleSystem:
		b.add(session.DraftCustom(agentbase.SystemType, new(rawjson.Object).String("content", m.Text).Bytes()), id, at)
	default:
		b.add(session.DraftCustom(agentbase.OtherType, new(rawjson.Object).String("role", m.Role).
			String("content", m.Text).Raw("message", m.Raw).Bytes()), id, at)
	}
}

// answer adds an answer and its calls. Calls alone do not make a message: their results are
// unknown, so it would have no content for a model.
func (b *importer) answer(c agentbase.Conversation, m agentbase.Message, id string, at time.Time) {
	if m.Text != "" || len(m.Calls) == 0 {
		b.add(session.DraftMessage(importedAnswer(c, m.Text, at)), id, at)
		if len(m.Calls) == 0 {
			return
		}
		id = b.moreID()
	}
	b.add(session.DraftCustom(agentbase.ToolType, toolData(m)), id, at)
}

// importedAnswer is an answer as xcsh stores them. xcsh reads every member of the usage
// without checking that it exists.
func importedAnswer(c agentbase.Conversation, text string, at time.Time) []byte {
	block := new(rawjson.Object).String("type", "text").String("text", text).Bytes()
	return new(rawjson.Object).String("role", "assistant").Raw("content", rawjson.Array([][]byte{block})).
		String("api", "imported").String("provider", c.Provider).String("model", c.Model).
		Raw("usage", []byte(`{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,`+
			`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`)).
		String("stopReason", "stop").Raw("timestamp", unixMillis(at)).Bytes()
}

// toolData is the known data of a tool's message, or of calls of tools, as text and as JSON.
func toolData(m agentbase.Message) []byte {
	o := new(rawjson.Object)
	if len(m.Calls) == 0 {
		o.String("content", m.Text)
	} else {
		text, calls := "", make([][]byte, len(m.Calls))
		for i, call := range m.Calls {
			text += "Called " + cmp.Or(call.Name, "a tool") + "(" + call.Arguments + ")\n"
			calls[i] = new(rawjson.Object).String("name", call.Name).String("arguments", call.Arguments).Bytes()
		}
		o.String("content", text[:len(text)-1]).Raw("calls", rawjson.Array(calls))
	}
	if m.Name != "" {
		o.String("name", m.Name)
	}
	if m.ToolCallID != "" {
		o.String("toolCallId", m.ToolCallID)
	}
	return o.Bytes()
}

func unixMillis(t time.Time) []byte { return strconv.AppendInt(nil, t.UnixMilli(), 10) }
