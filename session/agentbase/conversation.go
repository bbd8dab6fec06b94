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

// Conversation is one session file, whichever generation wrote it.
type Conversation struct {
	Format      Format
	ID          string // the file's name without its ending; what the file says of it may be wrong
	Name        string // what the person called it, else the id
	Description string

	Created, LastActivity time.Time // zero when the file does not say it

	Provider, Model string // "" when unknown
	Summary         string // what the program told the person when the session was resumed

	// Metadata is everything about the conversation as the file has it, nil when there is
	// nothing: an object of whatever members.
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
	Calls []Call    // what the model asked for; only the Python generation keeps it

	// Odd reports that the text does not say all that the content does.
	Odd bool
	Raw json.RawMessage // the message as the file has it
}

// Call is a tool call as the Python generation keeps it. Arguments is usually JSON.
type Call struct{ Name, Arguments string }
