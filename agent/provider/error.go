package provider

import (
	"fmt"
	"time"
)

// Class sorts failures by what can be done about them.
type Class string

// The classes. The first six pass by themselves and are worth another try.
const (
	RateLimit  Class = "rate_limit"
	Overloaded Class = "overloaded"
	Server     Class = "server"
	Network    Class = "network"
	Timeout    Class = "timeout"   // nothing came for too long
	Truncated  Class = "truncated" // the stream ended without its final event

	ContextOverflow Class = "context_overflow" // the conversation is too long for the model
	Quota           Class = "quota"            // the account has nothing left
	Auth            Class = "auth"             // the key is missing, wrong or not allowed
	InvalidRequest  Class = "invalid_request"
	Refused         Class = "refused"  // the service will not answer this
	Protocol        Class = "protocol" // what came is not an answer of such a service
	Aborted         Class = "aborted"  // the context ended
)

// Error is a failed request. Its text is fit for a person and never holds a key.
type Error struct {
	Class      Class
	Message    string
	Status     int    // of HTTP; 0 when there was none
	Code       string // the service's own word for it
	RequestID  string // to quote when asking the service
	RetryAfter time.Duration
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
	case RateLimit, Overloaded, Server, Network, Timeout, Truncated:
		return true
	default:
		return false
	}
}
