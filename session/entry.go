package session

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Type is an entry's type, as written.
type Type string

// The entry types of the three programs. Any other type is kept, takes part in the
// tree and yields no message.
const (
	TypeMessage          Type = "message"
	TypeModelChange      Type = "model_change"
	TypeThinkingLevel    Type = "thinking_level_change"
	typeServiceTier      Type = "service_tier_change"
	typeContextChange    Type = "context_change"     // xcsh: active product context
	typeMCPToolSelection Type = "mcp_tool_selection" // xcsh
	TypeCompaction       Type = "compaction"
	TypeBranchSummary    Type = "branch_summary"
	TypeCustom           Type = "custom"         // an extension's state, never in the context
	TypeCustomMessage    Type = "custom_message" // an extension's message, in the context
	TypeLabel            Type = "label"
	typeTTSRInjection    Type = "ttsr_injection"
	TypeSessionInit      Type = "session_init" // a sub-agent's task
	TypeModeChange       Type = "mode_change"
	TypeSessionInfo      Type = "session_info"   // pi: the title
	typeContextEdit      Type = "context_edit"   // pi: replaces or hides an entry's message
	typeUsage            Type = "usage"          // pi: billing record
	typeModelUsage       Type = "model_usage"    // omp: billing record
	typeResetBoundary    Type = "reset_boundary" // omp: /clear
	TypeTitleChange      Type = "title_change"   // omp: audit of renames
	typeCredentialPin    Type = "credential_pin" // omp
)

// TypeSession is the type of the header line, which is not an entry.
const TypeSession Type = "session"

// Entry is one line of a session as the tree sees it. Raw is authoritative; the other
// fields are derived from it. The As… functions return typed views of the type-specific
// fields.
type Entry struct {
	ID        string // "" when the line has none
	ParentID  string // "" when parentId is null, missing or not a string
	Type      Type
	Timestamp string          // ISO 8601, as written
	Raw       json.RawMessage // after migration, if the file is older; never modified
}

// Role returns the role of a message entry, and "" for any other.
func (e Entry) Role() string {
	if e.Type != TypeMessage {
		return ""
	}
	role, _ := rawjson.GetString(e.Raw, "message", "role")
	return role
}

// Message returns the agent message of a message entry, or nil when it has none.
func (e Entry) Message() json.RawMessage {
	if e.Type != TypeMessage {
		return nil
	}
	if m := rawjson.Get(e.Raw, "message"); rawjson.Kind(m) == '{' {
		return m
	}
	return nil
}

// ModelChange is the view of a model_change entry. Model is "provider/id"; Role is
// "default" when the line names none.
type ModelChange struct{ Model, Role string }

// AsModelChange views e, which is a model_change. pi's form, with provider and
// modelId apart, is understood too.
//
// Differs: xcsh ignores pi's form; we read sessions of all three programs.
func (e Entry) AsModelChange() ModelChange {
	c := ModelChange{Role: "default"}
	if role, _ := rawjson.GetString(e.Raw, "role"); role != "" {
		c.Role = role
	}
	if c.Model, _ = rawjson.GetString(e.Raw, "model"); c.Model == "" {
		provider, _ := rawjson.GetString(e.Raw, "provider")
		id, _ := rawjson.GetString(e.Raw, "modelId")
		if provider != "" && id != "" {
			c.Model = provider + "/" + id
		}
	}
	return c
}

// AsThinkingLevel views e, a thinking_level_change. A missing or null level is "off".
func (e Entry) AsThinkingLevel() string {
	if level, ok := rawjson.GetString(e.Raw, "thinkingLevel"); ok {
		return level
	}
	return "off"
}

// Compaction is the view of a compaction entry. Values of free shape stay raw and
// are nil when absent.
type Compaction struct {
	Summary          string
	ShortSummary     string
	FirstKeptEntryID string
	TokensBefore     json.RawMessage
	Details          json.RawMessage
	PreserveData     json.RawMessage
	FromExtension    bool
}

// AsCompaction views e, a compaction.
func (e Entry) AsCompaction() Compaction {
	var c Compaction
	c.Summary, _ = rawjson.GetString(e.Raw, "summary")
	c.ShortSummary, _ = rawjson.GetString(e.Raw, "shortSummary")
	c.FirstKeptEntryID, _ = rawjson.GetString(e.Raw, "firstKeptEntryId")
	c.TokensBefore = rawjson.Get(e.Raw, "tokensBefore")
	c.Details = rawjson.Get(e.Raw, "details")
	c.PreserveData = rawjson.Get(e.Raw, "preserveData")
	c.FromExtension = rawjson.Truthy(rawjson.Get(e.Raw, "fromExtension")) || rawjson.Truthy(rawjson.Get(e.Raw, "fromHook"))
	return c
}

// BranchSummary is the view of a branch_summary entry. FromID is "root" when the
// branch started from nothing.
type BranchSummary struct {
	FromID        string
	Summary       string
	Details       json.RawMessage
	FromExtension bool
}

// AsBranchSummary views e, a branch_summary.
func (e Entry) AsBranchSummary() BranchSummary {
	var s BranchSummary
	s.FromID, _ = rawjson.GetString(e.Raw, "fromId")
	s.Summary, _ = rawjson.GetString(e.Raw, "summary")
	s.Details = rawjson.Get(e.Raw, "details")
	s.FromExtension = rawjson.Truthy(rawjson.Get(e.Raw, "fromExtension")) || rawjson.Truthy(rawjson.Get(e.Raw, "fromHook"))
	return s
}

// Label is the view of a label entry. An empty Text clears the label of TargetID.
type Label struct{ TargetID, Text string }

// AsLabel views e, a label.
func (e Entry) AsLabel() Label {
	var l Label
	l.TargetID, _ = rawjson.GetString(e.Raw, "targetId")
	l.Text, _ = rawjson.GetString(e.Raw, "label")
	return l
}

// Custom is the view of a custom or custom_message entry. Data is only in the
// former; Content, Display, Details and Attribution only in the latter.
type Custom struct {
	CustomType  string
	Data        json.RawMessage
	Content     json.RawMessage
	Display     bool
	Details     json.RawMessage
	Attribution string
}

// AsCustom views e, a custom or custom_message.
func (e Entry) AsCustom() Custom {
	var c Custom
	c.CustomType, _ = rawjson.GetString(e.Raw, "customType")
	c.Data = rawjson.Get(e.Raw, "data")
	c.Content = rawjson.Get(e.Raw, "content")
	c.Display = rawjson.Truthy(rawjson.Get(e.Raw, "display"))
	c.Details = rawjson.Get(e.Raw, "details")
	c.Attribution, _ = rawjson.GetString(e.Raw, "attribution")
	return c
}

// ModeChange is the view of a mode_change entry: "plan", "plan_paused", "none" ….
type ModeChange struct {
	Mode string
	Data json.RawMessage // nil when absent
}

// AsModeChange views e, a mode_change.
func (e Entry) AsModeChange() ModeChange {
	m := ModeChange{Data: rawjson.Get(e.Raw, "data")}
	m.Mode, _ = rawjson.GetString(e.Raw, "mode")
	return m
}

// asInjectedRules views e, a ttsr_injection: the names of the rules it adds.
func (e Entry) asInjectedRules() []string { return stringList(rawjson.Get(e.Raw, "injectedRules")) }

// asSelectedTools views e, an mcp_tool_selection: the tools it leaves selected.
func (e Entry) asSelectedTools() []string { return stringList(rawjson.Get(e.Raw, "selectedToolNames")) }

// contextEdit is the view of pi's context_edit entry.
type contextEdit struct {
	TargetID string
	Content  json.RawMessage // nil: the target is left out of the context
}

// asContextEdit views e, a context_edit.
func (e Entry) asContextEdit() contextEdit {
	c := contextEdit{Content: rawjson.Get(e.Raw, "replacement", "content")}
	c.TargetID, _ = rawjson.GetString(e.Raw, "targetId")
	return c
}

// stringList returns the strings of a JSON array and drops other elements. A value that is
// not an array yields an empty list, where the originals would throw.
func stringList(v []byte) []string {
	var list []string
	rawjson.Elements(v, func(el []byte) bool {
		if s, ok := rawjson.String(el); ok {
			list = append(list, s)
		}
		return true
	})
	return list
}
