// Package gemini speaks Google's own API for its models, generateContent, to that service and to
// the gateways that offer it.
package gemini

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

const defaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Client is a provider of models whose API is [provider.GoogleGenerativeAI].
type Client struct {
	options guard.Options
	tiers   tier.Memory
}

// New returns a client.
func New(o guard.Options) *Client { return &Client{options: o} }

// Stream sends the request to the model.
func (c *Client) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return guard.Stream(ctx, req, c.options, c.tiers.Begin(begin))
}

func begin(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
	base := req.Model.BaseURL
	if base == "" {
		base = defaultBaseURL
	}
	h := http.Header{}
	if req.Key != "" {
		h.Set("X-Goog-Api-Key", req.Key) // not in the address, which proxies record
	}
	return call(req, a, base, h)
}

// call returns a request for a stream of the model. base includes the version of the API.
func call(req provider.Request, a *answer.Answer, base string, h http.Header) (guard.Call, guard.Decoder, error) {
	body, err := guard.Encode(build(req))
	if err != nil {
		return guard.Call{}, nil, err
	}
	// An id can come from a session file. Escaped, it can't name another resource of the service.
	address := strings.TrimRight(base, "/") + "/models/" + url.PathEscape(req.Model.ID) + ":streamGenerateContent?alt=sse"
	return guard.Call{URL: address, Header: h, Body: body}, &decoder{answer: a}, nil
}
