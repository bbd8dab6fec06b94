package openai

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/answer"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
)

type completionsRequest struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitzero"`
	Store               *bool          `json:"store,omitzero"`
	MaxTokens           int            `json:"max_tokens,omitzero"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitzero"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitzero"`
	ServiceTier         string         `json:"service_tier,omitzero"`
	retention
	thinkingFields
	ToolStream      bool              `json:"tool_stream,omitzero"`
	Provider        jsontext.Value    `json:"provider,omitzero"`
	ProviderOptions any               `json:"providerOptions,omitzero"`
	Tools           []completionsTool `json:"tools,omitempty"`
	Messages        []chatMessage     `json:"messages"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type completionsTool struct {
	Type         string        `json:"type"`
	Function     function      `json:"function"`
	CacheControl *cacheControl `json:"cache_control,omitzero"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict,omitzero"`
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // a string, a list of chatPart, or nil
	Name       string     `json:"name,omitzero"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitzero"`

	ReasoningContent *string          `json:"reasoning_content,omitzero"`
	Reasoning        *string          `json:"reasoning,omitzero"`
	ReasoningText    *string          `json:"reasoning_text,omitzero"`
	ReasoningDetails []jsontext.Value `json:"reasoning_details,omitempty"`
}

type chatPart struct {
	Type         string        `json:"type"`
	Text         string        `json:"text,omitzero"`
	ImageURL     *imageURL     `json:"image_url,omitzero"`
	CacheControl *cacheControl `json:"cache_control,omitzero"`
}

type imageURL struct {
	URL string `json:"url"`
}

type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitzero"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
	Extra    extraContent `json:"extra_content,omitzero"`
}

// extraContent is Google's addition to a tool call: the signature of the thinking that led to it.
// Gemini 3 and newer models refuse a conversation without it.
type extraContent struct {
	Google struct {
		ThoughtSignature string `json:"thought_signature,omitzero"`
	} `json:"google,omitzero"`
}

// unsigned is Google's signature for calls that its model did not make.
const unsigned = "skip_thought_signature_validator"

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func beginCompletions(req provider.Request, a *answer.Answer) (guard.Call, guard.Decoder, error) {
	c := compatOf(req.Model)
	body, err := guard.Encode(buildCompletions(req, c))
	if err == nil {
		body, err = merge(body, c.ExtraBody)
	}
	if err != nil {
		return guard.Call{}, nil, err
	}
	out := call(req, "/chat/completions", body)
	if *c.SendSessionAffinityHeaders && req.SessionID != "" {
		if c.SessionAffinityFormat == "openrouter" {
			out.Header.Set("X-Session-Id", req.SessionID)
		} else {
			out.Header.Set("X-Session-Affinity", req.SessionID)
		}
	}
	return out, &completionsDecoder{answer: a, needsReason: *c.SupportsFinishReason}, nil
}

func buildCompletions(req provider.Request, c compat) completionsRequest {
	m := req.Model
	r := completionsRequest{Model: m.ID, Stream: true, ServiceTier: req.Tier}
	if *c.SupportsUsageInStreaming {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	if *c.SupportsStore {
		r.Store = new(bool)
	}
	if known(req) {
		if c.MaxTokensField == "max_tokens" {
			r.MaxTokens = req.Limit()
		} else {
			r.MaxCompletionTokens = req.Limit()
		}
	}
	if official(m) {
		r.PromptCacheKey = cacheKey(req.SessionID)
	}
	r.retention = retain(req, c)
	r.thinkingFields = think(req, c)
	r.ToolStream = c.ZaiToolStream && len(req.Tools) > 0
	r.Provider = c.OpenRouterRouting
	if len(c.VercelGatewayRouting) > 0 {
		r.ProviderOptions = map[string]any{"gateway": c.VercelGatewayRouting}
	}
	for _, t := range req.Tools {
		parameters, enforced := schema(req, c, t)
		r.Tools = append(r.Tools, completionsTool{Type: "function", Function: function{
			Name: t.Name, Description: t.Description, Parameters: parameters, Strict: enforced,
		}})
	}
	r.Messages = chatMessages(req, c)
	if c.CacheControlFormat == "anthropic" && !req.OneOff {
		r.cache(req.LongCache && c.SupportsLongCacheRetention != nil && *c.SupportsLongCacheRetention)
	}
	return r
}

// cacheKey groups the requests of a session. Longer keys are refused.
func cacheKey(session string) string {
	const longest = 64
	return session[:min(len(session), longest)]
}

// cache marks the parts that a Claude model behind a gateway may cache.
func (r *completionsRequest) cache(long bool) {
	mark := &cacheControl{Type: "ephemeral"}
	if long {
		mark.TTL = "1h"
	}
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].CacheControl = mark
	}
	if len(r.Messages) > 0 && (r.Messages[0].Role == "system" || r.Messages[0].Role == "developer") {
		r.Messages[0].mark(mark)
	}
	for i := len(r.Messages) - 1; i > 0; i-- {
		if r.Messages[i].mark(mark) {
			return
		}
	}
}

// mark marks the last text of the message, if it has one.
func (m *chatMessage) mark(mark *cacheControl) bool {
	switch content := m.Content.(type) {
	case string:
		if content == "" {
			return false
		}
		m.Content = []chatPart{{Type: "text", Text: content, CacheControl: mark}}
		return true
	case []chatPart:
		for i := len(content) - 1; i >= 0; i-- {
			if content[i].Type == "text" {
				content[i].CacheControl = mark
				return true
			}
		}
	}
	return false
}

// chatMessages turns the conversation into messages.
func chatMessages(req provider.Request, c compat) []chatMessage {
	var out []chatMessage
	if req.System != "" {
		role := "system"
		if req.Model.Reasoning && *c.SupportsDeveloperRole {
			role = "developer"
		}
		out = append(out, chatMessage{Role: role, Content: req.System})
	}
	messages := req.Conversation()
	var images []chatPart // of the results that are being added
	for i, m := range messages {
		switch m.Role {
		case provider.RoleUser:
			if c.RequiresAssistantAfterToolResult && i > 0 && messages[i-1].Role == provider.RoleToolResult {
				out = append(out, bridge)
			}
			out = append(out, chatMessage{Role: "user", Content: userContent(m)})
		case provider.RoleAssistant:
			if a := chatAnswer(m, req.Model, c); a.Content != nil && a.Content != "" || len(a.ToolCalls) > 0 {
				out = append(out, a)
			}
		case provider.RoleToolResult:
			result, seen := chatResult(m, c)
			out = append(out, result)
			images = append(images, seen...)
		}
		last := i+1 == len(messages) || messages[i+1].Role != provider.RoleToolResult
		if last && len(images) > 0 {
			if c.RequiresAssistantAfterToolResult {
				out = append(out, bridge)
			}
			// A tool result cannot hold an image, a user message can.
			note := chatPart{Type: "text", Text: "Attached image(s) from tool result:"}
			out = append(out, chatMessage{Role: "user", Content: append([]chatPart{note}, images...)})
			images = nil
		}
	}
	return out
}

// bridge is inserted between a tool result and a user message for services that require an answer
// there.
var bridge = chatMessage{Role: "assistant", Content: "I have processed the tool results."}

// userContent is a text where it can be: not all services take lists.
func userContent(m provider.Message) any {
	var parts []chatPart
	for _, b := range m.Content {
		if b.Type == provider.TypeImage {
			parts = append(parts, chatPart{Type: "image_url", ImageURL: &imageURL{dataURL(b)}})
		} else {
			parts = append(parts, chatPart{Type: "text", Text: b.Text})
		}
	}
	if len(parts) == 1 && parts[0].Type == "text" {
		return parts[0].Text
	}
	return parts
}

func chatResult(m provider.Message, c compat) (chatMessage, []chatPart) {
	var images []chatPart
	for _, b := range m.Content {
		if b.Type == provider.TypeImage {
			images = append(images, chatPart{Type: "image_url", ImageURL: &imageURL{dataURL(b)}})
		}
	}
	text := m.PlainText()
	if text == "" {
		text = "(see attached image)"
	}
	r := chatMessage{Role: "tool", ToolCallID: m.ToolCallID, Content: text}
	if c.RequiresToolResultName {
		r.Name = m.ToolName
	}
	return r, images
}

func chatAnswer(m provider.Message, model provider.Model, c compat) chatMessage {
	out := chatMessage{Role: "assistant"}
	var texts, thoughts []string
	field := ""
	for _, b := range m.Content {
		switch b.Type {
		case provider.TypeText:
			texts = append(texts, b.Text)
		case provider.TypeThinking:
			var details []jsontext.Value
			if guard.Decode([]byte(b.ThinkingSignature), &details) == nil && len(details) > 0 {
				out.ReasoningDetails = append(out.ReasoningDetails, details...)
			} else if field == "" {
				field = b.ThinkingSignature
			}
			if strings.TrimSpace(b.Thinking) != "" {
				thoughts = append(thoughts, b.Thinking)
			}
		case provider.TypeToolCall:
			call := chatCall{ID: b.ID, Type: "function", Function: calledByName{b.Name, string(b.Arguments)}}
			if s := jsontext.Value(b.ThoughtSignature); s.IsValid() && s.Kind() == '{' {
				out.ReasoningDetails = append(out.ReasoningDetails, s)
			} else if call.Extra.Google.ThoughtSignature = b.ThoughtSignature; c.SignsCalls && b.ThoughtSignature == "" {
				call.Extra.Google.ThoughtSignature = unsigned
			}
			out.ToolCalls = append(out.ToolCalls, call)
		}
	}
	thought := strings.Join(thoughts, "\n")
	switch {
	case c.RequiresThinkingAsText:
		texts = append(thoughts, texts...)
	case thought == "" || len(out.ReasoningDetails) > 0:
	case field == "reasoning_content":
		out.ReasoningContent = &thought
	case field == "reasoning":
		out.Reasoning = &thought
	case field == "reasoning_text":
		out.ReasoningText = &thought
	}
	if *c.RequiresReasoningContent && model.Reasoning && out.ReasoningContent == nil {
		out.ReasoningContent = new(string)
	}
	if text := strings.Join(texts, "\n"); text != "" {
		out.Content = text
	} else if c.RequiresNonNullAssistantContent || c.RequiresAssistantAfterToolResult {
		out.Content = ""
	}
	return out
}
