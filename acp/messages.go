package acp

import "github.com/xcsh-ls/xcsh-ls/session/library"

// The messages that only an agent sends or receives, as far as this package uses them. Optional members and
// unused members are not distinguished: both are omitted.

// initializeResult is what an agent of this program announces.
type initializeResult struct {
	ProtocolVersion int               `json:"protocolVersion"`
	Capabilities    agentCapabilities `json:"agentCapabilities"`
	Agent           implementation    `json:"agentInfo"`
	AuthMethods     []authMethod      `json:"authMethods"`
}

// authMethod is a way to log in.
type authMethod struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Type        string   `json:"type,omitempty"`
	Args        []string `json:"args,omitempty"` // of the terminal method

	Meta *authMeta `json:"_meta,omitempty"`
}

// authMeta describes the terminal method for clients that are older than its type.
type authMeta struct {
	Terminal terminalLogin `json:"terminal-auth"`
}

// terminalLogin is a command to run in a terminal.
type terminalLogin struct {
	Label   string   `json:"label"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// agentCapabilities are those of an agent of this program.
type agentCapabilities struct {
	LoadSession bool                `json:"loadSession"`
	Prompt      promptCapabilities  `json:"promptCapabilities"`
	MCP         mcpCapabilities     `json:"mcpCapabilities"`
	Session     sessionCapabilities `json:"sessionCapabilities"`
}

// sessionCapabilities are the optional methods of an agent of this program.
type sessionCapabilities struct {
	List   struct{} `json:"list"`
	Delete struct{} `json:"delete"`
	Resume struct{} `json:"resume"`
	Close  struct{} `json:"close"`
	Fork   struct{} `json:"fork"` // not in the stable protocol yet; other clients ignore it
}

// openResult is the result of those requests. SessionID is set only for new and fork.
type openResult struct {
	SessionID string         `json:"sessionId,omitempty"`
	Modes     modeState      `json:"modes"`
	Options   []configOption `json:"configOptions"`
}

// authenticateParams are the parameters of authenticate.
type authenticateParams struct {
	MethodID string `json:"methodId"`
}

// listParams are the parameters of session/list.
type listParams struct {
	Cwd    string `json:"cwd"`
	Cursor string `json:"cursor"`
}

// listResult is a page of sessions.
type listResult struct {
	Sessions []sessionInfo `json:"sessions"`
	Next     string        `json:"nextCursor,omitempty"`
}

// sessionInfo describes a session in a list.
type sessionInfo struct {
	SessionID string `json:"sessionId"`
	Cwd       string `json:"cwd"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`

	Meta *sessionMeta `json:"_meta,omitempty"`
}

// sessionMeta describes a session in the team's store, in a list.
type sessionMeta struct {
	Team *library.Team `json:"xcsh.team"`
}

// setOptionResult lists all options after a change.
type setOptionResult struct {
	Options []configOption `json:"configOptions"`
}

// updateParams are an update of a session.
type updateParams struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

// chunkUpdate is a piece of a message.
type chunkUpdate struct {
	Kind      string       `json:"sessionUpdate"`
	Content   contentBlock `json:"content"`
	MessageID string       `json:"messageId,omitempty"`
}

// planUpdate replaces the plan of the session.
type planUpdate struct {
	Kind    string      `json:"sessionUpdate"`
	Entries []planEntry `json:"entries"`
}

// commandsUpdate replaces the commands of the session.
type commandsUpdate struct {
	Kind     string             `json:"sessionUpdate"`
	Commands []availableCommand `json:"availableCommands"`
}

// modeUpdate reports the mode of the session.
type modeUpdate struct {
	Kind string `json:"sessionUpdate"`
	Mode string `json:"currentModeId"`
}

// optionsUpdate replaces the options of the session.
type optionsUpdate struct {
	Kind    string         `json:"sessionUpdate"`
	Options []configOption `json:"configOptions"`
}

// infoUpdate reports the title of the session.
type infoUpdate struct {
	Kind      string `json:"sessionUpdate"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

// usageUpdate reports how much of the context is used, in tokens.
type usageUpdate struct {
	Kind string `json:"sessionUpdate"`
	Used int    `json:"used"`
	Size int    `json:"size"`
	Cost *cost  `json:"cost,omitempty"`
}

// cost is the price of a session so far.
type cost struct {
	Amount   float64 `json:"amount"`
	Currency string  `json:"currency"`
}

// noticeUpdate is a message for the user.
type noticeUpdate struct {
	Kind     string `json:"sessionUpdate"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
}

// compactionUpdate reports the state of a compaction.
type compactionUpdate struct {
	Kind    string         `json:"sessionUpdate"`
	ID      string         `json:"compactionId"`
	Status  string         `json:"status"`
	Summary []contentBlock `json:"summary,omitempty"`
	Error   string         `json:"error,omitempty"`
}
