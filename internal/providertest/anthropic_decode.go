package providertest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// decodeAnthropic reads a request and refuses it for the same reasons as the service.
func decodeAnthropic(r *http.Request, body []byte) (Request, error) {
	var in anthropicRequest
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return Request{Model: in.Model}, err
	}
	req := Request{Model: in.Model}
	if err := in.check(r.Header); err != nil {
		return req, err
	}
	req.MaxTokens = *in.MaxTokens
	for _, p := range in.System {
		req.System += p.Text
	}
	for _, t := range in.Tools {
		if t.Strict != nil && *t.Strict {
			req.strict = true
			if err := checkStrict(t.Name, t.InputSchema, false); err != nil {
				return req, err
			}
		}
		req.Tools = append(req.Tools, provider.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema})
	}
	for i, m := range in.Messages {
		messages, err := m.decode(i)
		if err != nil {
			return req, err
		}
		req.Messages = append(req.Messages, messages...)
	}
	return req, in.checkCalls()
}

func (in anthropicRequest) check(h http.Header) error {
	switch t := in.Thinking; {
	case h.Get("Anthropic-Version") == "":
		return invalid("anthropic-version: header is required")
	case in.Model == "":
		return invalid("model: Field required")
	case in.MaxTokens == nil:
		return invalid("max_tokens: Field required")
	case !in.Stream:
		return invalid("stream: only streams are served here")
	case len(in.Messages) == 0:
		return invalid("messages: at least one message is required")
	case in.Messages[0].Role != "user":
		return invalid("messages: first message must use the \"user\" role")
	case t != nil && !slices.Contains([]string{"adaptive", "enabled", "disabled"}, t.Type):
		return invalid("thinking: Input tag %q does not match any of the expected tags", t.Type)
	case t != nil && t.Type == "enabled" && t.Budget < 1024:
		return invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case t != nil && t.Type == "enabled" && t.Budget >= *in.MaxTokens:
		return invalid("`max_tokens` must be greater than `thinking.budget_tokens`")
	}
	for i, t := range in.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if !toolName.MatchString(t.Name) {
			return invalid("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'", i)
		}
		if json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object" {
			return invalid("tools.%d.custom.input_schema.type: Field required", i)
		}
	}
	if n := in.cached(); n > 4 {
		return invalid("A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
	return nil
}

// cached counts the places that are marked for the cache.
func (in anthropicRequest) cached() int {
	n := 0
	count := func(parts content) {
		for _, p := range parts {
			if p.CacheControl != nil {
				n++
			}
		}
	}
	count(in.System)
	for _, t := range in.Tools {
		if t.CacheControl != nil {
			n++
		}
	}
	for _, m := range in.Messages {
		count(m.Content)
	}
	return n
}

// checkCalls checks that the next message has a result for every call, and no others.
func (in anthropicRequest) checkCalls() error {
	calls := map[string]bool{}
	for i, m := range in.Messages {
		answered := map[string]bool{}
		for _, p := range m.Content {
			if p.Type == "tool_result" {
				if !calls[p.ToolUseID] {
					return invalid("messages.%d.content: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each "+
						"`tool_result` block must have a corresponding `tool_use` block in the previous message.", i, p.ToolUseID)
				}
				if answered[p.ToolUseID] {
					return invalid("messages.%d.content: each tool_use must have a single result. Found multiple "+
						"`tool_result` blocks with id: %s", i, p.ToolUseID)
				}
				answered[p.ToolUseID] = true
			}
		}
		for id := range calls {
			if !answered[id] {
				return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", i-1, id)
			}
		}
		calls = map[string]bool{}
		for _, p := range m.Content {
			if p.Type == "tool_use" {
				if calls[p.ID] {
					return invalid("messages.%d.content: `tool_use` ids must be unique", i)
				}
				calls[p.ID] = true
			}
		}
	}
	if len(calls) > 0 {
		return invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after", len(in.Messages)-1)
	}
	return nil
}

func (m anthropicMessage) decode(i int) ([]provider.Message, error) {
	if m.Role != "user" && m.Role != "assistant" {
		return nil, invalid("messages.%d.role: Input should be 'user' or 'assistant'", i)
	}
	if len(m.Content) == 0 {
		return nil, invalid("messages.%d: all messages must have non-empty content", i)
	}
	var results []provider.Message
	var own []provider.Block
	for j, p := range m.Content {
		b, err := p.anthropic(m.Role)
		if err != nil {
			return nil, invalid("messages.%d.content.%d: %v", i, j, err)
		}
		if p.Type != "tool_result" {
			own = append(own, b)
			continue
		}
		if len(own) > 0 {
			return nil, invalid("messages.%d.content.%d: tool_result blocks must come first", i, j)
		}
		var blocks []provider.Block
		for _, inner := range p.Content {
			b, err := inner.anthropic("user")
			if err != nil {
				return nil, invalid("messages.%d.content.%d.tool_result: %v", i, j, err)
			}
			blocks = append(blocks, b)
		}
		results = append(results, result(p.ToolUseID, blocks, p.IsError))
	}
	if own != nil {
		results = append(results, provider.Message{Role: m.Role, Content: own})
	}
	return results, nil
}

// anthropic reads a part of a message of the role.
func (p part) anthropic(role string) (provider.Block, error) {
	byUser := p.Type == "image" || p.Type == "tool_result"
	byModel := p.Type == "thinking" || p.Type == "redacted_thinking" || p.Type == "tool_use"
	switch {
	case byUser && role != "user", byModel && role != "assistant":
		return provider.Block{}, invalid("%s blocks are not permitted in messages of the role %s", p.Type, role)
	case p.Type == "text" && p.Text == "":
		return provider.Block{}, invalid("text content blocks must be non-empty")
	case p.Type == "text":
		return provider.Text(p.Text), nil
	case p.Type == "image" && (p.Source == nil || p.Source.Type != "base64" || p.Source.Data == "" || p.Source.MediaType == ""):
		return provider.Block{}, invalid("image.source: Field required")
	case p.Type == "image":
		return provider.Block{Type: provider.TypeImage, MimeType: p.Source.MediaType, Data: p.Source.Data}, nil
	case p.Type == "tool_result":
		return provider.Block{}, nil
	case p.Type == "thinking" && p.Signature != sign(p.Thinking):
		return provider.Block{}, invalid("Invalid `signature` in `thinking` block")
	case p.Type == "thinking":
		return provider.Block{Type: provider.TypeThinking, Thinking: p.Thinking, ThinkingSignature: p.Signature}, nil
	case p.Type == "redacted_thinking" && p.Data == "":
		return provider.Block{}, invalid("Invalid `data` in `redacted_thinking` block")
	case p.Type == "redacted_thinking":
		return provider.Block{Type: provider.TypeThinking, Redacted: true, ThinkingSignature: p.Data}, nil
	case p.Type == "tool_use" && !toolID.MatchString(p.ID):
		return provider.Block{}, invalid("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
	case p.Type == "tool_use" && (len(p.Input) == 0 || p.Input[0] != '{'):
		return provider.Block{}, invalid("tool_use.input: Input should be a valid dictionary")
	case p.Type == "tool_use":
		return provider.Block{Type: provider.TypeToolCall, ID: p.ID, Name: p.Name, Arguments: p.Input}, nil
	default:
		return provider.Block{}, invalid("Input tag %q does not match any of the expected tags", p.Type)
	}
}
