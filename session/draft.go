package session

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
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

// DraftMessage is an agent message, stored as it is.
func DraftMessage(message json.RawMessage) *Draft { return draft(TypeMessage).raw("message", message) }

// DraftLabel labels an entry; an empty text clears the label.
func DraftLabel(targetID, text string) *Draft {
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

// DraftBranchSummary records what was left behind when the leaf moved. fromID is
// "root" when nothing was.
func DraftBranchSummary(fromID, summary string, details json.RawMessage) *Draft {
	return draft(TypeBranchSummary).str("fromId", fromID).str("summary", summary).raw("details", details)
}

// DraftCustom is an extension's state, which a model never sees.
func DraftCustom(customType string, data json.RawMessage) *Draft {
	return draft(TypeCustom).str("customType", customType).raw("data", data)
}

// draftSessionInfo is how pi stores a title.
func draftSessionInfo(name string) *Draft { return draft(TypeSessionInfo).str("name", name) }

// draftTitleChange is omp's record of a rename; the title itself is in the slot.
func draftTitleChange(title Title, previous string) *Draft {
	return draft(TypeTitleChange).str("title", title.Text).optional("source", title.Source).optional("previousTitle", previous)
}

// line is the entry's line without its newline. Key order is that of the programs:
// extensions' entries put their own fields before the id.
func (d *Draft) line(id, parentID, timestamp string) []byte {
	o := new(rawjson.Object).String("type", string(d.Type))
	specifics := func() {
		for _, f := range d.fields {
			o.Raw(f.key, singleLine(f.raw))
		}
	}
	first := d.Type == TypeCustom || d.Type == TypeCustomMessage
	if first {
		specifics()
	}
	parent := []byte("null")
	if parentID != "" {
		parent = rawjson.Quote(parentID)
	}
	o.String("id", id).Raw("parentId", parent).String("timestamp", timestamp)
	if !first {
		specifics()
	}
	return o.Bytes()
}

// singleLine brings a value into the form a line must have: one line, valid UTF-8.
// Ordinary values are already.
func singleLine(raw []byte) []byte {
	if bytes.ContainsAny(raw, "\n\r") {
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
