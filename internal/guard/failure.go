package guard

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// broken makes an error of a request that ended without a response of the service.
func (x *exchange) broken(ctx context.Context, err error) *provider.Error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errIdle):
		return x.fail(provider.Timeout, fmt.Sprintf("for %v", x.options.idle()))
	case cause != nil:
		return x.fail(provider.Aborted, "")
	default:
		return x.fail(provider.Network, plainError(err))
	}
}

// unreadable reports whether a decoder could not read an event.
func unreadable(err error) bool {
	_, own := errors.AsType[*provider.Error](err)
	_, problem := errors.AsType[*Problem](err)
	return !own && !problem && !errors.Is(err, ErrIncomplete)
}

// explain converts the error of a decoder or a service. nil means none.
func (x *exchange) explain(err error) *provider.Error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrIncomplete) {
		return x.fail(provider.Truncated, err.Error())
	}
	if own, ok := errors.AsType[*provider.Error](err); ok {
		return own
	}
	p, ok := errors.AsType[*Problem](err)
	if !ok {
		return x.fail(provider.Protocol, err.Error())
	}
	if p.RequestID != "" && x.id == "" {
		x.id = p.RequestID
	}
	status := x.status
	if status/100 == 2 && p.Status > 0 {
		status = p.Status
	}
	failure := x.fail(p.class(status), p.Message)
	failure.RetryAfter = p.details.delay
	failure.Code = p.Code
	if failure.Code == "" {
		failure.Code = p.Type
	}
	if failure.Class == provider.InvalidRequest {
		failure.Part = rejectedPart(x.body, p)
	}
	return failure
}

// fail makes an error of the class. detail is in the service's words.
func (x *exchange) fail(class provider.Class, detail string) *provider.Error {
	who := x.req.Model.Provider
	if who == "" {
		who = "the service"
	}
	sentence := map[provider.Class]string{
		provider.RateLimit:       who + " is limiting requests",
		provider.Overloaded:      who + " is overloaded",
		provider.Server:          who + " failed",
		provider.Network:         who + " cannot be reached",
		provider.Timeout:         who + " did not respond",
		provider.Truncated:       "the response from " + who + " is incomplete",
		provider.ContextOverflow: "the conversation is too long for " + x.req.Model.ID,
		provider.Quota:           "the account at " + who + " has no credit left",
		provider.Auth:            who + " rejected the API key",
		provider.InvalidRequest:  who + " rejected the request",
		provider.Refused:         x.req.Model.ID + " refused to answer",
		provider.Protocol:        "the response from " + who + " is invalid",
		provider.Aborted:         "the request was aborted",
	}[class]
	if class == provider.Timeout {
		sentence += " " + detail
	} else if detail = x.conceal(detail); detail != "" {
		sentence += ": " + detail
	}
	return &provider.Error{Class: class, Message: sentence, Status: x.status, RequestID: x.id}
}

// conceal takes keys out of a text of the service, some of which repeat them.
func (x *exchange) conceal(s string) string {
	for _, secret := range x.secrets {
		s = strings.ReplaceAll(s, secret, "(hidden)")
	}
	return s
}

// secrets returns the secret texts of a request, which must not be shown. Shorter ones are fillers
// like "none", for services that want any key, and would be found in the middle of words.
func secrets(req provider.Request) []string {
	const least = 8
	var all []string
	if len(req.Key) >= least {
		all = append(all, req.Key)
	}
	for name, value := range req.Model.Headers {
		name = strings.ToLower(name)
		for _, word := range []string{"key", "token", "auth", "secret", "cookie"} {
			if len(value) >= least && strings.Contains(name, word) {
				all = append(all, value)
				break
			}
		}
	}
	return all
}

// plainError leaves the URL out of an error, which may have a key in it.
func plainError(err error) string {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return err.Error()
}
