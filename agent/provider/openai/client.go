// Package openai speaks OpenAI's two APIs, Chat Completions and Responses, to that service
// and to the many others that offer them.
package openai

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/strict"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

const defaultBaseURL = "https://api.openai.com/v1"

// Completions is a provider of models whose API is [provider.OpenAICompletions].
type Completions struct {
	options guard.Options
	strict  strict.Memory
	tiers   tier.Memory
}

// NewCompletions returns a client of Chat Completions.
func NewCompletions(o guard.Options) *Completions { return &Completions{options: o} }

// Stream sends the request to the model.
func (c *Completions) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return guard.Stream(ctx, req, c.options, c.tiers.Begin(c.strict.Begin(beginCompletions)))
}

// Responses is a provider of models whose API is [provider.OpenAIResponses].
type Responses struct {
	options guard.Options
	strict  strict.Memory
	tiers   tier.Memory
}

// NewResponses returns a client of Responses.
func NewResponses(o guard.Options) *Responses { return &Responses{options: o} }

// Stream sends the request to the model.
func (c *Responses) Stream(ctx context.Context, req provider.Request) iter.Seq[provider.Event] {
	return guard.Stream(ctx, req, c.options, c.tiers.Begin(c.strict.Begin(beginResponses)))
}

// call returns the common parts of the calls of both APIs.
func call(req provider.Request, path string, body []byte) guard.Call {
	base := req.Model.BaseURL
	if base == "" {
		base = defaultBaseURL
	}
	h := http.Header{}
	if req.Key != "" {
		h.Set("Authorization", "Bearer "+req.Key)
	}
	return guard.Call{URL: strings.TrimRight(base, "/") + path, Header: h, Body: body}
}

// merge lays the members of extra over those of body.
func merge(body []byte, extra map[string]jsontext.Value) ([]byte, error) {
	if len(extra) == 0 {
		return body, nil
	}
	var all map[string]jsontext.Value
	if err := guard.Decode(body, &all); err != nil {
		return nil, err
	}
	maps.Copy(all, extra)
	return guard.Encode(all)
}

// dataURL is an image as both APIs take it.
func dataURL(b provider.Block) string { return "data:" + b.MimeType + ";base64," + b.Data }

// effort returns the service's name of the level; "" if it has none.
func effort(m provider.Model, l provider.Level) string {
	switch mapped, known := m.ThinkingLevelMap[l]; {
	case !known:
		return string(l)
	case mapped == nil:
		return ""
	default:
		return *mapped
	}
}

// off returns the service's name for no thinking, and whether thinking can be switched off at all.
func off(m provider.Model) (word string, possible bool) {
	mapped, known := m.ThinkingLevelMap[provider.Off]
	if mapped != nil {
		return *mapped, true
	}
	return "none", !known
}

// wanted reports whether the model is to think.
func wanted(req provider.Request) bool {
	return req.Model.Reasoning && req.Thinking != "" && req.Thinking != provider.Off
}

// known reports whether the maximum length of answers is configured. Services know the limits of
// their own models better than a guess does.
func known(req provider.Request) bool { return req.MaxTokens > 0 || req.Model.MaxTokens > 0 }

func unmarshalLoosely(raw json.RawMessage, v any) {
	_ = json.Unmarshal(raw, v) // switches that cannot be parsed stay off
}
