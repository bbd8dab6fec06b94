package wire

import "encoding/json"

// ProtocolVersion is the supported version of the protocol.
const ProtocolVersion = 1

// The methods that a client calls.
const (
	MethodInitialize   = "initialize"
	MethodAuthenticate = "authenticate"
	MethodNew          = "session/new"
	MethodLoad         = "session/load"
	MethodResume       = "session/resume"
	MethodFork         = "session/fork"
	MethodList         = "session/list"
	MethodDelete       = "session/delete"
	MethodClose        = "session/close"
	MethodPrompt       = "session/prompt"
	MethodSetMode      = "session/set_mode"
	MethodSetOption    = "session/set_config_option"
	MethodCancel       = "session/cancel"
	MethodCancelCall   = "$/cancel_request"
)

// The methods that the server calls on a client.
const (
	MethodUpdate     = "session/update"
	MethodPermission = "session/request_permission"
	MethodReadFile   = "fs/read_text_file"
	MethodWriteFile  = "fs/write_text_file"
)

// InitializeParams are the parameters of initialize.
type InitializeParams struct {
	ProtocolVersion int             `json:"protocolVersion"`
	Capabilities    json.RawMessage `json:"clientCapabilities"`
	Client          json.RawMessage `json:"clientInfo"`
}

// Implementation names a program.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// PromptCapabilities are the kinds of content that a prompt may have beside text.
type PromptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

// MCPCapabilities are the transports of MCP servers beside standard input and output.
type MCPCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

// OpenParams are the parameters of session/new, load, resume and fork.
type OpenParams struct {
	SessionID  string            `json:"sessionId"`
	Cwd        string            `json:"cwd"`
	MCPServers []json.RawMessage `json:"mcpServers"`
	Additional []json.RawMessage `json:"additionalDirectories"`
}

// ModeState is the mode of a session, and those that can be chosen.
type ModeState struct {
	Current   string `json:"currentModeId"`
	Available []Mode `json:"availableModes"`
}

// Mode is a mode that can be chosen.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// ConfigOption is a setting of a session with its choices.
type ConfigOption struct {
	Type        string         `json:"type"` // always select
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Category    string         `json:"category,omitempty"`
	Current     string         `json:"currentValue"`
	Options     []ConfigChoice `json:"options"`
}

// ConfigChoice is a value that an option can have.
type ConfigChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// SessionParams are the parameters of requests that name a session only.
type SessionParams struct {
	SessionID string `json:"sessionId"`
}

// SetModeParams are the parameters of session/set_mode.
type SetModeParams struct {
	SessionID string `json:"sessionId"`
	Mode      string `json:"modeId"`
}

// SetOptionParams are the parameters of session/set_config_option.
type SetOptionParams struct {
	SessionID string          `json:"sessionId"`
	Option    string          `json:"configId"`
	Value     json.RawMessage `json:"value"` // of an option with choices a string
}

// PromptParams are the parameters of session/prompt.
type PromptParams struct {
	SessionID string         `json:"sessionId"`
	Prompt    []ContentBlock `json:"prompt"`
}

// PromptResult is the end of a turn.
type PromptResult struct {
	StopReason string `json:"stopReason"`
}

// The reasons for the end of a turn.
const (
	StopEnd       = "end_turn"
	StopLength    = "max_tokens"
	StopLimit     = "max_turn_requests"
	StopRefusal   = "refusal"
	StopCancelled = "cancelled"
)

// ContentBlock is a piece of a message. Which members are set depends on Type.
type ContentBlock struct {
	Type     string    `json:"type"` // text, image, audio, resource_link or resource
	Text     string    `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"` // base64
	MimeType string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *Resource `json:"resource,omitempty"`
}

// MarshalJSON writes the members that the type requires, even if they are empty.
func (b ContentBlock) MarshalJSON() ([]byte, error) {
	if b.Type == "text" {
		return json.Marshal(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{b.Type, b.Text})
	}
	type plain ContentBlock
	return json.Marshal(plain(b))
}

// Resource is an embedded text or, in base64, other data.
type Resource struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     string  `json:"blob,omitempty"`
}

// TextBlock returns a block of text.
func TextBlock(s string) ContentBlock { return ContentBlock{Type: "text", Text: s} }

// The kinds of updates of a session.
const (
	UpdateUserChunk    = "user_message_chunk"
	UpdateAgentChunk   = "agent_message_chunk"
	UpdateThoughtChunk = "agent_thought_chunk"
	UpdateToolCall     = "tool_call"
	UpdateToolProgress = "tool_call_update"
	UpdatePlan         = "plan"
	UpdateCommands     = "available_commands_update"
	UpdateMode         = "current_mode_update"
	UpdateOptions      = "config_option_update"
	UpdateInfo         = "session_info_update"
	UpdateUsage        = "usage_update"
	UpdateNotice       = "notice"
	UpdateCompaction   = "compaction_update"
)

// ToolUpdate is a tool call, or a change of one, in which only the changed members are set.
type ToolUpdate struct {
	Kind      string          `json:"sessionUpdate,omitempty"` // not set within a permission request
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title,omitempty"`
	Name      string          `json:"name,omitempty"`
	ToolKind  string          `json:"kind,omitempty"`
	Status    string          `json:"status,omitempty"`
	Content   []ToolContent   `json:"content,omitempty"`
	Locations []Location      `json:"locations,omitempty"`
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
	RawOutput json.RawMessage `json:"rawOutput,omitempty"`
}

// The states of a tool call.
const (
	StatusPending   = "pending"
	StatusRunning   = "in_progress"
	StatusCompleted = "completed"
	StatusFailed    = "failed"
)

// ToolContent is one part of a tool call's output: a block, or the change of a file.
type ToolContent struct {
	Type    string        `json:"type"` // content or diff
	Content *ContentBlock `json:"content,omitempty"`
	Path    string        `json:"path,omitempty"`    // absolute
	OldText *string       `json:"oldText,omitempty"` // nil for a new file
	NewText *string       `json:"newText,omitempty"`
}

// Location is a place in a file.
type Location struct {
	Path string `json:"path"`           // absolute
	Line int    `json:"line,omitempty"` // starts at 1; 0 means no line
}

// PlanEntry is one step of a plan.
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

// AvailableCommand is a command that a prompt can begin with.
type AvailableCommand struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *CommandInput `json:"input,omitempty"`
}

// CommandInput describes the text after a command.
type CommandInput struct {
	Hint string `json:"hint"`
}

// PermissionParams are the parameters of session/request_permission.
type PermissionParams struct {
	SessionID string             `json:"sessionId"`
	ToolCall  ToolUpdate         `json:"toolCall"`
	Options   []PermissionOption `json:"options"`
}

// PermissionOption is a possible answer to a request for permission.
type PermissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// PermissionResult is the answer to a request for permission.
type PermissionResult struct {
	Outcome struct {
		Outcome  string `json:"outcome"` // selected or cancelled
		OptionID string `json:"optionId"`
	} `json:"outcome"`
}

// ReadFileParams are the parameters of fs/read_text_file.
type ReadFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
}

// ReadFileResult is the text of a file.
type ReadFileResult struct {
	Content string `json:"content"`
}

// WriteFileParams are the parameters of fs/write_text_file.
type WriteFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
	Content   string `json:"content"`
}
