// Package anthropic speaks Anthropic's Messages, to that service and to others that offer
// it.
package anthropic

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/strict"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

const defaultBaseURL = "https://api.anthropic.com"

// Client is a provider of models whose API is [provider.AnthropicMessages].
type Client struct {
	options guard.Options
	strict  strict.Memory
	tiers   tier.Memory
}

// New returns a client.
func New(o guard.Options) *Client { return &Client{options: o} }

// Stream sends the request to the model.
func (c *Client) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return guard.Stream(ctx, req, c.options, c.tiers.Begin(c.strict.Begin(begin)))
}

func begin(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
	b := build(req)
	body, err := guard.Encode(b)
	if err != nil {
		return guard.Call{}, nil, err
	}
	base := strings.TrimSuffix(strings.TrimRight(baseURL(req.Model), "/"), "/v1")
	h := http.Header{"Anthropic-Version": {"2023-06-01"}}
	if req.Key != "" {
		h.Set("X-Api-Key", req.Key)
	}
	var betas []string
	if b.Thinking != nil && b.Thinking.Type == "enabled" {
		// Models with enabled thinking can continue to think between calls.
		betas = append(betas, "interleaved-thinking-2025-05-14")
	}
	if b.eagerByHeader {
		betas = append(betas, "fine-grained-tool-streaming-2025-05-14")
	}
	if b.Speed != "" {
		betas = append(betas, "fast-mode-2026-02-01")
	}
	if len(betas) > 0 {
		h.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	return guard.Call{URL: base + "/v1/messages", Header: h, Body: body}, &decoder{answer: a}, nil
}

func baseURL(m provider.Model) string {
	if m.BaseURL == "" {
		return defaultBaseURL
	}
	return m.BaseURL
}

// official reports whether the model runs at Anthropic's own service.
func official(m provider.Model) bool {
	u, err := url.Parse(baseURL(m))
	return err == nil && strings.HasSuffix("."+u.Hostname(), ".anthropic.com")
}
