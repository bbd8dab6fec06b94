package anthropic

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/strict"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
)

type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	Stream       bool          `json:"stream"`
	Speed        string        `json:"speed,omitzero"`
	Thinking     *thinking     `json:"thinking,omitzero"`
	OutputConfig *outputConfig `json:"output_config,omitzero"`
	Tools        []tool        `json:"tools,omitempty"`
	System       []block       `json:"system,omitempty"`
	Messages     []message     `json:"messages"`

	eagerByHeader bool // arguments are streamed as they are sampled, which a header asks for
}

type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens,omitzero"`
	Display      string `json:"display,omitzero"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitzero"`
	InputSchema  json.RawMessage `json:"input_schema"`
	Strict       bool            `json:"strict,omitzero"`
	Eager        bool            `json:"eager_input_streaming,omitzero"`
	CacheControl *cacheControl   `json:"cache_control,omitzero"`
}

type message struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

// block is any block of a message; fields of other types are nil or "".
type block struct {
	Type string `json:"type"`

	Text      string          `json:"text,omitzero"`
	Thinking  *string         `json:"thinking,omitzero"`
	Signature *string         `json:"signature,omitzero"`
	Data      string          `json:"data,omitzero"`
	Source    *source         `json:"source,omitzero"`
	ID        string          `json:"id,omitzero"`
	Name      string          `json:"name,omitzero"`
	Input     json.RawMessage `json:"input,omitzero"`
	ToolUseID string          `json:"tool_use_id,omitzero"`
	Content   []block         `json:"content,omitzero"`
	IsError   bool            `json:"is_error,omitzero"`

	CacheControl *cacheControl `json:"cache_control,omitzero"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitzero"`
}

// compat are the switches of a model's compat that concern this API.
type compat struct {
	ForceAdaptiveThinking           bool  `json:"forceAdaptiveThinking"`
	SupportsCacheControlOnTools     *bool `json:"supportsCacheControlOnTools"`
	SupportsEagerToolInputStreaming *bool `json:"supportsEagerToolInputStreaming"`
	SupportsLongCacheRetention      *bool `json:"supportsLongCacheRetention"`
	SupportsStrictTools             bool  `json:"supportsStrictTools"`
}

func build(req provider.Request) request {
	var c compat
	_ = json.Unmarshal(req.Model.Compat, &c) // switches that cannot be parsed stay off
	r := request{Model: req.Model.ID, Stream: true, MaxTokens: req.Limit()}
	if req.Tier == tier.Priority {
		r.Speed = "fast"
	}
	r.think(req, c)
	own := official(req.Model)
	eager := own
	if c.SupportsEagerToolInputStreaming != nil {
		eager = *c.SupportsEagerToolInputStreaming
		r.eagerByHeader = !eager && len(req.Tools) > 0 // the model's entry in the catalogue knows the older way
	}
	for _, t := range req.Tools {
		one := tool{Name: t.Name, Description: t.Description, InputSchema: t.Parameters, Eager: eager}
		if closed, ok := strict.Closed(t.Parameters); ok && c.SupportsStrictTools && !req.LooseTools {
			one.InputSchema, one.Strict = closed, true
		}
		r.Tools = append(r.Tools, one)
	}
	if req.System != "" {
		r.System = []block{{Type: "text", Text: req.System}}
	}
	for _, m := range req.Conversation() {
		r.add(m)
	}
	if req.OneOff {
		return r
	}
	mark := &cacheControl{Type: "ephemeral"}
	if long := c.SupportsLongCacheRetention; req.LongCache && (long == nil && own || long != nil && *long) {
		mark.TTL = "1h"
	}
	r.cache(mark, c.SupportsCacheControlOnTools == nil || *c.SupportsCacheControlOnTools)
	return r
}

// budgets are the tokens for thinking of models that want a number.
var budgets = map[provider.Level]int{
	provider.Minimal: 1024, provider.Low: 2048, provider.Medium: 8192,
	provider.High: 16384, provider.XHigh: 16384, provider.Max: 16384,
}

func (r *request) think(req provider.Request, c compat) {
	m, level := req.Model, req.Thinking
	if !m.Reasoning {
		return
	}
	mapped, known := m.ThinkingLevelMap[level]
	switch {
	case level == "" || level == provider.Off:
		if off, named := m.ThinkingLevelMap[provider.Off]; !named || off != nil {
			r.Thinking = &thinking{Type: "disabled"}
		}
	case c.ForceAdaptiveThinking:
		effort := string(level)
		if level == provider.Minimal {
			effort = "low"
		}
		if known && mapped != nil {
			effort = *mapped
		}
		// Some of these models return no thinking by default.
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		r.OutputConfig = &outputConfig{Effort: effort}
	default:
		const least = 1024 // of thinking, and of the answer after it
		want := max(req.Budget(level, budgets[level]), least)
		if req.MaxTokens > 0 {
			req.MaxTokens += want
			r.MaxTokens = req.Limit()
		}
		if budget := min(want, r.MaxTokens-least); budget >= least {
			r.Thinking = &thinking{Type: "enabled", BudgetTokens: budget}
		}
	}
}

// add adds a message. All messages of the user and of tools between two answers become one message,
// because some services that offer this API want the roles to alternate.
func (r *request) add(m provider.Message) {
	role, content := "user", []block(nil)
	switch m.Role {
	case provider.RoleAssistant:
		role = "assistant"
		content = blocks(m.Content)
	case provider.RoleToolResult:
		failed := m.IsError != nil && *m.IsError
		content = []block{{Type: "tool_result", ToolUseID: m.ToolCallID, Content: blocks(m.Content), IsError: failed}}
	default:
		content = blocks(m.Content)
	}
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
		r.Messages[n-1].Content = append(r.Messages[n-1].Content, content...)
		return
	}
	r.Messages = append(r.Messages, message{role, content})
}

func blocks(content []provider.Block) []block {
	var out []block
	for _, b := range content {
		switch {
		case b.Type == provider.TypeText:
			out = append(out, block{Type: "text", Text: b.Text})
		case b.Type == provider.TypeImage:
			out = append(out, block{Type: "image", Source: &source{"base64", b.MimeType, b.Data}})
		case b.Type == provider.TypeThinking && b.Redacted:
			out = append(out, block{Type: "redacted_thinking", Data: b.ThinkingSignature})
		case b.Type == provider.TypeThinking:
			out = append(out, block{Type: "thinking", Thinking: &b.Thinking, Signature: &b.ThinkingSignature})
		case b.Type == provider.TypeToolCall:
			out = append(out, block{Type: "tool_use", ID: b.ID, Name: b.Name, Input: b.Arguments})
		}
	}
	return out
}

// cache sets the marks up to which the service may cache the request: behind the tools and the
// system prompt, which stay the same, and behind the last two user messages, so that the next
// request finds one of them. Four marks are allowed.
func (r *request) cache(mark *cacheControl, tools bool) {
	if n := len(r.Tools); n > 0 && tools {
		r.Tools[n-1].CacheControl = mark
	}
	if n := len(r.System); n > 0 {
		r.System[n-1].CacheControl = mark
	}
	left := 2
	for i := len(r.Messages) - 1; i >= 0 && left > 0; i-- {
		if m := r.Messages[i]; m.Role == "user" {
			m.Content[len(m.Content)-1].CacheControl = mark
			left--
		}
	}
}
