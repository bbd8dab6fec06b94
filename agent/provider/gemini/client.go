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
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

const defaultBaseURL = "https://generativelanguage.googleapis.com/v1beta"

// Client is a provider of models whose API is [provider.GoogleGenerativeAI].
type Client struct{ options guard.Options }

// New returns a client.
func New(o guard.Options) *Client { return &Client{o} }

// Stream sends the request to the model.
func (c *Client) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return guard.Stream(ctx, req, c.options, begin)
}

func begin(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
	body, err := guard.Encode(build(req))
	if err != nil {
		return guard.Call{}, nil, err
	}
	h := http.Header{}
	if req.Key != "" {
		h.Set("X-Goog-Api-Key", req.Key) // not in the address, which proxies record
	}
	return guard.Call{URL: address(req.Model), Header: h, Body: body}, &decoder{answer: a}, nil
}

// address returns the URL of the model's streams. The base URL includes the version of the API.
func address(m provider.Model) string {
	base := m.BaseURL
	if base == "" {
		base = defaultBaseURL
	}
	// An id can come from a session file. Escaped, it can't name another resource of the service.
	return strings.TrimRight(base, "/") + "/models/" + url.PathEscape(m.ID) + ":streamGenerateContent?alt=sse"
}
