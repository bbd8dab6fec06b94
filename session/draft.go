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
	id     string // see Named
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

// DraftSetting records a change of the thinking level or of the service tier, as t says. value is the new
// one as JSON; null is none.
func DraftSetting(t Type, value json.RawMessage) *Draft {
	key := "thinkingLevel"
	if t == typeServiceTier {
		key = "serviceTier"
	}
	return draft(t).raw(key, value)
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
// FirstKeptEntryID. ShortSummary and PreserveData are not written. The dialect determines the name of
// the member for a summary that an extension wrote.
func DraftCompaction(dialect Dialect, c Compaction) *Draft {
	d := draft(TypeCompaction).str("summary", c.Summary).str("firstKeptEntryId", c.FirstKeptEntryID).
		raw("tokensBefore", c.TokensBefore).raw("details", c.Details)
	switch {
	case !c.FromExtension:
		return d
	case dialect == Pi:
		return d.raw("fromHook", []byte("true"))
	}
	return d.raw("fromExtension", []byte("true"))
}

// DraftCustom returns a draft of an extension's state, which is never sent to a model.
func DraftCustom(customType string, data json.RawMessage) *Draft {
	return draft(TypeCustom).str("customType", customType).raw("data", data)
}

// DraftCustomMessage returns a draft of an extension's message to the model, in the form of the dialect.
// Data and Attribution are not written: pi knows no attribution, and an extension's message is never the
// user's.
func DraftCustomMessage(dialect Dialect, c Custom) *Draft {
	d := draft(TypeCustomMessage).str("customType", c.CustomType).raw("content", c.Content).
		raw("display", strconv.AppendBool(nil, c.Display)).raw("details", c.Details)
	if dialect == Pi {
		return d
	}
	return d.str("attribution", "agent")
}

// Subagent describes the work of a session that is a subagent's.
type Subagent struct {
	System   string   // the system prompt
	Task     string   // the prompt that it begins with
	Tools    []string // the names of its tools
	Agent    string   // the name of the agent
	Model    string   // "provider/id"
	ReadOnly bool     // its tools only read
}

// DraftSubagent records what a subagent was started with.
func DraftSubagent(a Subagent) *Draft {
	tools := make([][]byte, len(a.Tools))
	for i, name := range a.Tools {
		tools[i] = rawjson.Quote(name)
	}
	return draft(TypeSessionInit).str("systemPrompt", a.System).str("task", a.Task).raw("tools", rawjson.Array(tools)).
		str("agent", a.Agent).str("resolvedModel", a.Model).raw("readOnly", strconv.AppendBool(nil, a.ReadOnly))
}

// DraftInvocation returns a draft of a message of the user that a program's own type describes, such as an invoked
// skill, in the form of xcsh and omp. Only CustomType, Content and Details of c are used.
func DraftInvocation(c Custom) *Draft {
	return draft(TypeCustomMessage).str("customType", c.CustomType).raw("content", c.Content).
		raw("display", []byte("true")).raw("details", c.Details).str("attribution", "user")
}

// DraftRuleInjection records that the model got the stream rules with these names.
func DraftRuleInjection(names []string) *Draft {
	quoted := make([][]byte, len(names))
	for i, name := range names {
		quoted[i] = rawjson.Quote(name)
	}
	return draft(typeTTSRInjection).raw("injectedRules", rawjson.Array(quoted))
}

// DraftToolSelection records the tools of MCP servers that a search has activated, as xcsh does.
func DraftToolSelection(names []string) *Draft {
	quoted := make([][]byte, len(names))
	for i, name := range names {
		quoted[i] = rawjson.Quote(name)
	}
	return draft(typeMCPToolSelection).raw("selectedToolNames", rawjson.Array(quoted))
}

// draftTitleChange is omp's record of a rename; the title itself is in the slot.
func draftTitleChange(title Title, previous string) *Draft {
	return draft(TypeTitleChange).str("title", title.Text).optional("source", title.Source).optional("previousTitle", previous)
}

// Named sets the id of the entry to one from [Log.NewEntryID] that is already in use elsewhere. If the session has an entry with this id
// by then, the entry gets a new one.
func (d *Draft) Named(id string) *Draft {
	d.id = id
	return d
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
