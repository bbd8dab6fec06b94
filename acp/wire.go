package acp

import "encoding/json"

// The messages of the protocol, as far as this package uses them. Optional members and unused members
// are not distinguished: both are omitted.

// ProtocolVersion is the supported version of the protocol.
const ProtocolVersion = 1

// The methods that a client calls.
const (
	methodInitialize   = "initialize"
	methodAuthenticate = "authenticate"
	methodNew          = "session/new"
	methodLoad         = "session/load"
	methodResume       = "session/resume"
	methodFork         = "session/fork"
	methodList         = "session/list"
	methodDelete       = "session/delete"
	methodClose        = "session/close"
	methodPrompt       = "session/prompt"
	methodSetMode      = "session/set_mode"
	methodSetOption    = "session/set_config_option"
	methodCancel       = "session/cancel"
	methodCancelCall   = "$/cancel_request"
)

// The methods that the server calls on a client.
const (
	methodUpdate     = "session/update"
	methodPermission = "session/request_permission"
	methodReadFile   = "fs/read_text_file"
	methodWriteFile  = "fs/write_text_file"
)

type initializeParams struct {
	ProtocolVersion int             `json:"protocolVersion"`
	Capabilities    json.RawMessage `json:"clientCapabilities"`
	Client          json.RawMessage `json:"clientInfo"`
}

type initializeResult struct {
	ProtocolVersion int               `json:"protocolVersion"`
	Capabilities    agentCapabilities `json:"agentCapabilities"`
	Agent           implementation    `json:"agentInfo"`
	AuthMethods     []struct{}        `json:"authMethods"`
}

type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

type agentCapabilities struct {
	LoadSession bool                `json:"loadSession"`
	Prompt      promptCapabilities  `json:"promptCapabilities"`
	MCP         mcpCapabilities     `json:"mcpCapabilities"`
	Session     sessionCapabilities `json:"sessionCapabilities"`
}

type promptCapabilities struct {
	Image           bool `json:"image"`
	Audio           bool `json:"audio"`
	EmbeddedContext bool `json:"embeddedContext"`
}

type mcpCapabilities struct {
	HTTP bool `json:"http"`
	SSE  bool `json:"sse"`
}

type sessionCapabilities struct {
	List   struct{} `json:"list"`
	Delete struct{} `json:"delete"`
	Resume struct{} `json:"resume"`
	Close  struct{} `json:"close"`
	Fork   struct{} `json:"fork"` // not in the stable protocol yet; other clients ignore it
}

// openParams are the parameters of session/new, load, resume and fork.
type openParams struct {
	SessionID  string            `json:"sessionId"`
	Cwd        string            `json:"cwd"`
	MCPServers []json.RawMessage `json:"mcpServers"`
	Additional []json.RawMessage `json:"additionalDirectories"`
}

// openResult is the result of those requests. SessionID is set only for new and fork.
type openResult struct {
	SessionID string         `json:"sessionId,omitempty"`
	Modes     modeState      `json:"modes"`
	Options   []configOption `json:"configOptions"`
}

type modeState struct {
	Current   string `json:"currentModeId"`
	Available []mode `json:"availableModes"`
}

type mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

type configOption struct {
	Type        string         `json:"type"` // always select
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description string         `json:"description"`
	Category    string         `json:"category"`
	Current     string         `json:"currentValue"`
	Options     []configChoice `json:"options"`
}

type configChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type listParams struct {
	Cwd    string `json:"cwd"`
	Cursor string `json:"cursor"`
}

type listResult struct {
	Sessions []sessionInfo `json:"sessions"`
	Next     string        `json:"nextCursor,omitempty"`
}

type sessionInfo struct {
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

type sessionParams struct {
	SessionID string `json:"sessionId"`
}

type setModeParams struct {
	SessionID string `json:"sessionId"`
	Mode      string `json:"modeId"`
}

type setOptionParams struct {
	SessionID string          `json:"sessionId"`
	Option    string          `json:"configId"`
	Value     json.RawMessage `json:"value"` // of an option with choices a string
}

type setOptionResult struct {
	Options []configOption `json:"configOptions"`
}

type promptParams struct {
	SessionID string         `json:"sessionId"`
	Prompt    []contentBlock `json:"prompt"`
}

type promptResult struct {
	StopReason string `json:"stopReason"`
}

// The reasons for the end of a turn.
const (
	stopEnd       = "end_turn"
	stopLength    = "max_tokens"
	stopLimit     = "max_turn_requests"
	stopRefusal   = "refusal"
	stopCancelled = "cancelled"
)

// contentBlock is a piece of a message. Which members are set depends on Type.
type contentBlock struct {
	Type     string    `json:"type"` // text, image, audio, resource_link or resource
	Text     string    `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"` // base64
	MimeType string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

// MarshalJSON writes the members that the type requires, even if they are empty.
func (b contentBlock) MarshalJSON() ([]byte, error) {
	if b.Type == "text" {
		return json.Marshal(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{b.Type, b.Text})
	}
	type plain contentBlock
	return json.Marshal(plain(b))
}

// resource is an embedded text or, in base64, other data.
type resource struct {
	URI      string  `json:"uri"`
	MimeType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     string  `json:"blob,omitempty"`
}

func textBlock(s string) contentBlock { return contentBlock{Type: "text", Text: s} }

// updateParams are an update of a session.
type updateParams struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

// The kinds of updates of a session.
const (
	updateUserChunk    = "user_message_chunk"
	updateAgentChunk   = "agent_message_chunk"
	updateThoughtChunk = "agent_thought_chunk"
	updateToolCall     = "tool_call"
	updateToolProgress = "tool_call_update"
	updatePlan         = "plan"
	updateCommands     = "available_commands_update"
	updateMode         = "current_mode_update"
	updateOptions      = "config_option_update"
	updateInfo         = "session_info_update"
	updateUsage        = "usage_update"
	updateNotice       = "notice"
	updateCompaction   = "compaction_update"
)

type chunkUpdate struct {
	Kind      string       `json:"sessionUpdate"`
	Content   contentBlock `json:"content"`
	MessageID string       `json:"messageId,omitempty"`
}

// toolUpdate is a tool call, or a change of one, in which only the changed members are set.
type toolUpdate struct {
	Kind      string          `json:"sessionUpdate,omitempty"` // not set within a permission request
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title,omitempty"`
	Name      string          `json:"name,omitempty"`
	ToolKind  string          `json:"kind,omitempty"`
	Status    string          `json:"status,omitempty"`
	Content   []toolContent   `json:"content,omitempty"`
	Locations []location      `json:"locations,omitempty"`
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
	RawOutput json.RawMessage `json:"rawOutput,omitempty"`
}

// The states of a tool call.
const (
	statusPending   = "pending"
	statusRunning   = "in_progress"
	statusCompleted = "completed"
	statusFailed    = "failed"
)

// toolContent is one part of a tool call's output: a block, or the change of a file.
type toolContent struct {
	Type    string        `json:"type"` // content or diff
	Content *contentBlock `json:"content,omitempty"`
	Path    string        `json:"path,omitempty"`    // absolute
	OldText *string       `json:"oldText,omitempty"` // nil for a new file
	NewText *string       `json:"newText,omitempty"`
}

type location struct {
	Path string `json:"path"`           // absolute
	Line int    `json:"line,omitempty"` // starts at 1; 0 means no line
}

type planUpdate struct {
	Kind    string      `json:"sessionUpdate"`
	Entries []planEntry `json:"entries"`
}

type planEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"`
	Status   string `json:"status"`
}

type commandsUpdate struct {
	Kind     string             `json:"sessionUpdate"`
	Commands []availableCommand `json:"availableCommands"`
}

type availableCommand struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Input       *commandInput `json:"input,omitempty"`
}

type commandInput struct {
	Hint string `json:"hint"`
}

type modeUpdate struct {
	Kind string `json:"sessionUpdate"`
	Mode string `json:"currentModeId"`
}

type optionsUpdate struct {
	Kind    string         `json:"sessionUpdate"`
	Options []configOption `json:"configOptions"`
}

type infoUpdate struct {
	Kind      string `json:"sessionUpdate"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

type usageUpdate struct {
	Kind string `json:"sessionUpdate"`
	Used int    `json:"used"`
	Size int    `json:"size"`
	Cost *cost  `json:"cost,omitempty"`
}

type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

type noticeUpdate struct {
	Kind     string `json:"sessionUpdate"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
}

type compactionUpdate struct {
	Kind    string         `json:"sessionUpdate"`
	ID      string         `json:"compactionId"`
	Status  string         `json:"status"`
	Summary []contentBlock `json:"summary,omitempty"`
	Error   string         `json:"error,omitempty"`
}

type permissionParams struct {
	SessionID string             `json:"sessionId"`
	ToolCall  toolUpdate         `json:"toolCall"`
	Options   []permissionOption `json:"options"`
}

type permissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

type permissionResult struct {
	Outcome struct {
		Outcome  string `json:"outcome"` // selected or cancelled
		OptionID string `json:"optionId"`
	} `json:"outcome"`
}

type readFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
}

type readFileResult struct {
	Content string `json:"content"`
}

type writeFileParams struct {
	SessionID string `json:"sessionId"`
	Path      string `json:"path"`
	Content   string `json:"content"`
}
