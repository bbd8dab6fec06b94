package provider

import (
	"context"
	"encoding/json"
	"iter"
)

// Provider runs models that speak one API. It is safe for concurrent use.
type Provider interface {
	// Stream sends the request when it is first read from. The package comment lists the
	// guarantees.
	Stream(ctx context.Context, req Request) iter.Seq[Event]
}

// Request is one question to a model.
type Request struct {
	Model    Model
	System   string // the system prompt, "" for none
	Messages []Message
	Tools    []Tool // in an order that does not change between turns
	Thinking Level  // clamped to the model; "" and "off" ask for none

	// Budgets are the tokens for thinking by level, for models that want a number. A level without one has that of
	// the service.
	Budgets map[Level]int

	// Tier is the service tier, "" for that of the account. The service of the model offers it.
	Tier string

	MaxTokens int    // of the answer; 0 means the model's maximum
	Size      int    // estimated tokens of System, Messages and Tools; 0 means by their length
	Key       string // API key, "" for services that need none; never logged
	SessionID string // groups requests for the service's cache

	Prepared   bool // Messages have the form that Model accepts; see [Request.Conversation]
	OneOff     bool // no later request begins like this one, so that caching it has no use
	LongCache  bool // the service is asked to cache the conversation for longer, where it offers that
	LooseTools bool // the service is not asked to enforce the schemas of Tools
}

// Budget returns the tokens for thinking at a level, whose standard number is given.
func (r Request) Budget(level Level, standard int) int {
	if n := r.Budgets[level]; n > 0 {
		return n
	}
	return standard
}

// Tool is a function the model may call.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema of an object
}

// Kind is the kind of an [Event].
type Kind int

// The kinds of events.
const (
	Start         Kind = iota // Message has the first facts; it also precedes a Failed without any answer
	TextDelta                 // Delta was added to the text block Index
	ThinkingDelta             // Delta was added to the thinking block Index
	ToolCallStart             // Block has id and name of the tool call Index
	ToolCallDelta             // Delta was added to the arguments of Index, as JSON text
	BlockEnd                  // Block is the finished content block Index
	Done                      // Message is the answer
	Failed                    // Message is the answer received so far, Err the failure
)

// Event is one step of an answer.
type Event struct {
	Kind    Kind
	Index   int // of the content block in the message, counted from 0
	Delta   string
	Block   *Block
	Message *Message
	Err     *Error
	Note    string // of Done: a message for the user about the answer; "": none
}
