package session

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Draft is an entry that is not yet part of a session: it has no id, parent or time.
type Draft struct {
	Type   Type
	fields []field
}

type field struct {
	key string
	raw []byte
}

func draft(t Type) *Draft { return &Draft{Type: t} }

func (d *Draft) raw(key string, v []byte) *Draft {
	if v != nil {
		d.fields = append(d.fields, field{key, v})
	}
	return d
}

func (d *Draft) str(key, v string) *Draft { return d.raw(key, rawjson.Quote(v)) }

func (d *Draft) optional(key, v string) *Draft {
	if v == "" {
		return d
	}
	return d.str(key, v)
}

// DraftMessage returns a draft of an agent message, which is stored unchanged.
func DraftMessage(message json.RawMessage) *Draft { return draft(TypeMessage).raw("message", message) }

// draftLabel labels an entry; an empty text clears the label.
func draftLabel(targetID, text string) *Draft {
	return draft(TypeLabel).str("targetId", targetID).optional("label", text)
}

// DraftThinkingLevel records a change of the thinking level; "" is stored as null.
func DraftThinkingLevel(level string) *Draft {
	if level == "" {
		return draft(TypeThinkingLevel).raw("thinkingLevel", []byte("null"))
	}
	return draft(TypeThinkingLevel).str("thinkingLevel", level)
}

// DraftModelChange records a change of the model in the form dialect reads.
func DraftModelChange(dialect Dialect, provider, model, role string) *Draft {
	d := draft(TypeModelChange)
	if dialect == Pi {
		return d.str("provider", provider).str("modelId", model)
	}
	d.str("model", provider+"/"+model).optional("role", role)
	if dialect == Omp {
		d.raw("resolvedModelIsFallback", []byte("false"))
	}
	return d
}

// DraftModeChange records a change of mode; data may be nil.
func DraftModeChange(mode string, data json.RawMessage) *Draft {
	return draft(TypeModeChange).str("mode", mode).raw("data", data)
}

// draftBranchSummary records a summary of the branch that the leaf left. fromID is the
// entry it moved to, in pi's files the old leaf; "root" stands for none.
func draftBranchSummary(fromID, summary string, details json.RawMessage) *Draft {
	return draft(TypeBranchSummary).str("fromId", fromID).str("summary", summary).raw("details", details)
}

// DraftCompaction records that a model gets the summary in place of the entries before
// firstKeptID. tokensBefore is the size of the context before the compaction; details may
// be nil.
func DraftCompaction(summary, firstKeptID string, tokensBefore int, details json.RawMessage) *Draft {
	return draft(TypeCompaction).str("summary", summary).str("firstKeptEntryId", firstKeptID).
		raw("tokensBefore", strconv.AppendInt(nil, int64(tokensBefore), 10)).raw("details", details)
}

// DraftCustom returns a draft of an extension's state, which is never sent to a model.
func DraftCustom(customType string, data json.RawMessage) *Draft {
	return draft(TypeCustom).str("customType", customType).raw("data", data)
}

// draftTitleChange is omp's record of a rename; the title itself is in the slot.
func draftTitleChange(title Title, previous string) *Draft {
	return draft(TypeTitleChange).str("title", title.Text).optional("source", title.Source).optional("previousTitle", previous)
}

// Line returns the entry's line without its newline. Key order is that of the programs:
// extensions' entries put their own fields before the id.
func (d *Draft) Line(id, parentID, timestamp string) []byte {
	size := len(`{"type":"","id":"","parentId":"","timestamp":""}`) + len(d.Type) + len(id) + len(parentID) + len(timestamp)
	for _, f := range d.fields {
		size += len(`,"":`) + len(f.key) + len(f.raw)
	}
	b := rawjson.AppendQuote(append(make([]byte, 0, size), `{"type":`...), string(d.Type))
	first := d.Type == TypeCustom || d.Type == TypeCustomMessage
	if first {
		b = d.appendFields(b)
	}
	b = append(rawjson.AppendQuote(append(b, `,"id":`...), id), `,"parentId":`...)
	if parentID == "" {
		b = append(b, "null"...)
	} else {
		b = rawjson.AppendQuote(b, parentID)
	}
	b = rawjson.AppendQuote(append(b, `,"timestamp":`...), timestamp)
	if !first {
		b = d.appendFields(b)
	}
	return append(b, '}')
}

func (d *Draft) appendFields(b []byte) []byte {
	for _, f := range d.fields {
		b = append(rawjson.AppendQuote(append(b, ','), f.key), ':')
		b = append(b, singleLine(f.raw)...)
	}
	return b
}

// role returns the role of the draft's message, "" for an entry that is not a message.
func (d *Draft) role() (role string) {
	for _, f := range d.fields {
		if d.Type == TypeMessage && f.key == "message" {
			role, _ = rawjson.GetString(f.raw, "role")
		}
	}
	return role
}

// singleLine converts a value to the form that a line requires: one line, valid UTF-8.
// Ordinary values already have it.
func singleLine(raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		var b bytes.Buffer
		if json.Compact(&b, raw) == nil {
			raw = b.Bytes()
		}
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return raw
}
