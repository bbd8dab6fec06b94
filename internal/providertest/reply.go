package providertest

import (
	"encoding/json"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Reply is a model's answer. Its parts come in the order of the fields.
type Reply struct {
	Thinking  string
	Redacted  string // thinking that the service keeps to itself; an opaque text
	Text      string
	ToolCalls []Call

	Usage provider.Usage // zero: [DefaultUsage]
	Stop  string         // one of provider's Stop values, or else sent unchanged; "": stop or toolUse, as the calls say

	Fault      Fault  // the fault of the reply
	RetryAfter string // header of a RateLimited or OverloadedBefore fault; "": none

	// Before holds back the whole answer, its status included, until it is closed. Hold
	// does so in the middle of the text, or of the first call's arguments when there is
	// no text. Both end when the client leaves.
	Before, Hold <-chan struct{}

	// When reserves the reply for requests for which it returns true. Others take the next one.
	When func(Request) bool

	Chunk  int    // characters per piece of text or arguments; 0: 8
	Quirks Quirks // of Chat Completions
}

// Call is a tool call of a [Reply].
type Call struct {
	Name string
	Args any    // encoded as JSON; a json.RawMessage is sent unchanged, even if it is not JSON
	ID   string // "": made by the server

	// Signature is what Gemini signs its call with, in Chat Completions; "": none.
	Signature string
}

// DefaultUsage is the usage of a reply that sets no other.
var DefaultUsage = provider.Usage{Input: 100, Output: 20, CacheRead: 40, CacheWrite: 10}

// Fault is a kind of failure of a reply.
type Fault int

// The faults. Those up to TooLong are answers with an error status instead of a stream.
const (
	NoFault          Fault = iota
	RateLimited            // 429
	OverloadedBefore       // 529 of Anthropic, 503 of the others
	ServerError            // 500
	BadKey                 // 401
	NoCredit               // the account is empty: 400 of Anthropic, 429 of the others
	TooLong                // 400: the conversation does not fit
	OverloadedWithin       // an error event after the first block, the status being 200
	LimitedWithin          // an error event in the middle of a block
	Cut                    // the connection breaks in the middle of the text
	EndsEarly              // the answer ends politely in the middle of the text
	EndsInCall             // and in the middle of a tool call's arguments
	Stall                  // silence in the middle of the text, until the client leaves
	BadJSON                // an event in the middle of the text that is not JSON
	HTML                   // a page with status 200, as login proxies answer
	CutBefore              // the connection breaks before the first byte
	CutInCall              // the connection breaks in the middle of a tool call's arguments
)

// Faults are all faults but [NoFault].
var Faults = []Fault{
	RateLimited, OverloadedBefore, ServerError, BadKey, NoCredit, TooLong, OverloadedWithin, LimitedWithin,
	Cut, EndsEarly, EndsInCall, Stall, BadJSON, HTML, CutBefore, CutInCall,
}

func (f Fault) String() string {
	names := [...]string{
		"no fault", "rate limited", "overloaded before", "server error", "bad key", "no credit", "too long",
		"overloaded within", "limited within", "cut", "ends early", "ends in call", "stall", "bad JSON", "HTML",
		"cut before", "cut in call",
	}
	if f < 0 || int(f) >= len(names) {
		return fmt.Sprintf("Fault(%d)", int(f))
	}
	return names[f]
}

// Class returns the class that a client has to assign to the fault.
func (f Fault) Class() provider.Class {
	return map[Fault]provider.Class{
		RateLimited: provider.RateLimit, OverloadedBefore: provider.Overloaded, ServerError: provider.Server,
		BadKey: provider.Auth, NoCredit: provider.Quota, TooLong: provider.ContextOverflow,
		OverloadedWithin: provider.Overloaded, LimitedWithin: provider.RateLimit,
		Cut: provider.Truncated, EndsEarly: provider.Truncated, EndsInCall: provider.Truncated,
		Stall: provider.Timeout, BadJSON: provider.Truncated, HTML: provider.Protocol,
		CutBefore: provider.Network, CutInCall: provider.Truncated,
	}[f]
}

// before reports whether the fault takes the place of the stream.
func (f Fault) before() bool { return f >= RateLimited && f <= TooLong || f == HTML || f == CutBefore }

// where returns the place of a stream at which the fault happens.
func (f Fault) where() place {
	switch f {
	case OverloadedWithin:
		return blockEnded
	case EndsInCall, CutInCall:
		return inCall
	case LimitedWithin, Cut, EndsEarly, Stall, BadJSON:
		return inText
	default:
		return nowhere
	}
}

// place marks a piece of an answer by where it is, as a set of bits.
type place int

const (
	inText     place = 1 << iota // the middle of the text
	inCall                       // the middle of the first call's arguments
	blockEnded                   // the first block is complete

	nowhere place = 0
)

func (r Reply) usage() provider.Usage {
	if r.Usage == (provider.Usage{}) {
		return DefaultUsage
	}
	return r.Usage
}

func (r Reply) stop() string {
	switch {
	case r.Stop != "":
		return r.Stop
	case len(r.ToolCalls) > 0:
		return provider.StopToolUse
	default:
		return provider.StopEnd
	}
}

// reason returns the reason to stop in the words of a format: names has those of provider's Stop values.
func (r Reply) reason(names map[string]string) string {
	if name, ok := names[r.stop()]; ok {
		return name
	}
	return r.stop()
}

// holdAt is where Hold holds.
func (r Reply) holdAt() place {
	if r.Text == "" {
		return inCall
	}
	return inText
}

// pieces cuts s into the parts that one event carries, never inside a character.
func (r Reply) pieces(s string) []string {
	size := r.Chunk
	if size <= 0 {
		size = 8
	}
	var parts []string
	for runes := []rune(s); len(runes) > 0; {
		n := min(size, len(runes))
		parts = append(parts, string(runes[:n]))
		runes = runes[n:]
	}
	return parts
}

// args are the call's arguments as the model wrote them.
func (c Call) args() string {
	switch v := c.Args.(type) {
	case nil:
		return "{}"
	case json.RawMessage:
		return string(v)
	default:
		raw, err := json.Marshal(v)
		if err != nil {
			panic("providertest: arguments of " + c.Name + ": " + err.Error())
		}
		return string(raw)
	}
}
