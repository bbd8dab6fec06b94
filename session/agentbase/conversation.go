package agentbase

import (
	"encoding/json"
	"time"
)

// MaxFile is the size in bytes up to which a file is read.
const MaxFile = 64 << 20

// Format is the generation of agent-base that wrote a file.
type Format string

// The formats.
const (
	TypeScript Format = "agent-base"
	Python     Format = "agent-base-python"
)

// Conversation is one session file of either generation.
type Conversation struct {
	Format      Format
	ID          string // the file's name without its extension; the id inside the file may be wrong
	Name        string // the name given by the user, otherwise the id
	Description string

	Created, LastActivity time.Time // zero if the file does not have it

	Provider, Model string // "" when unknown
	Summary         string // the summary shown to the user when the session was resumed

	// Metadata is the raw metadata of the conversation, nil if there is none: an object with
	// any members.
	Metadata json.RawMessage

	Messages []Message // at least one
}

// The roles of messages. A file may hold others.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleSystem    = "system"
	RoleTool      = "tool"
)

// Message is one message of a conversation.
type Message struct {
	Role string
	Text string // blocks of text are joined by LF

	Name, ToolCallID string // of a tool's message; "" for none
	ID               string
	TurnIndex        int // 1-based; 0 when there is none

	At    time.Time // zero when the file has no time that can be read
	Calls []Call    // the model's tool calls; only the Python generation keeps them

	// Odd reports that the text does not represent the whole content.
	Odd bool
	Raw json.RawMessage // the message as the file has it
}

// Call is a tool call as the Python generation keeps it. Arguments is usually JSON.
type Call struct{ Name, Arguments string }
