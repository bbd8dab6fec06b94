package provider

import (
	"encoding/json"
	"fmt"
	"time"
)

// Class sorts failures by the possible reaction to them.
type Class string

// The classes. The first seven pass by themselves and are worth another try.
const (
	RateLimit  Class = "rate_limit"
	Overloaded Class = "overloaded"
	Server     Class = "server"
	Network    Class = "network"
	Timeout    Class = "timeout"   // no data arrived for too long
	Truncated  Class = "truncated" // the stream ended without its final event
	Empty      Class = "empty"     // the answer has no text and no tool call

	ContextOverflow Class = "context_overflow" // the conversation is too long for the model
	Quota           Class = "quota"            // the account has no credit left
	Auth            Class = "auth"             // the key is missing, wrong or not allowed
	InvalidRequest  Class = "invalid_request"
	Refused         Class = "refused"  // the service will not answer this
	Protocol        Class = "protocol" // the response is not an answer of such a service
	Aborted         Class = "aborted"  // the context ended
	RuleMatched     Class = "rule"     // the answer was stopped because of a rule of the user
)

// Error is a failed request. Its text can be shown to users and never holds a key.
type Error struct {
	Class      Class
	Message    string
	Status     int    // of HTTP; 0 when there was none
	Code       string // the service's own word for it
	RequestID  string // to quote when asking the service
	RetryAfter time.Duration

	// Part is the part of the request that the service rejected, as it was sent; nil if it is not
	// known. It is content of the conversation and not shown.
	Part json.RawMessage
}

func (e *Error) Error() string {
	if e.RequestID == "" {
		return e.Message
	}
	return fmt.Sprintf("%s (request %s)", e.Message, e.RequestID)
}

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Class {
	case RateLimit, Overloaded, Server, Network, Timeout, Truncated, Empty:
		return true
	default:
		return false
	}
}
