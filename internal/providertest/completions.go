package providertest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Quirks are deviations of services from Chat Completions.
type Quirks struct {
	Reasoning     string // the field thinking comes in; "": reasoning_content
	NoIndex       bool   // further pieces of a call have no index
	NoDone        bool   // no [DONE] at the end
	EmptyFinish   bool   // finish_reason is "" instead of null
	UsageInChoice bool
	SaysStop      bool // finish_reason is stop although there are calls
	Details       bool // OpenRouter's encrypted reasoning_details beside the first call
}

// completionsFormat is OpenAI's Chat Completions.
var completionsFormat = &format{
	api: provider.OpenAICompletions, path: "/v1/chat/completions",
	decode: decodeCompletions, frames: completionsFrames, refuse: openAIError,
	within: func(no refusal) frame {
		// OpenAI has no errors within a stream. This is how gateways send them.
		return frame{data: object{"error": object{"message": no.message, "code": no.status}}}
	},
	faults: openAIFaults,
}

func openAIError(no refusal) any {
	var code any
	if no.code != "" {
		code = no.code
	}
	return object{"error": object{"message": no.message, "type": no.kind, "param": nil, "code": code}}
}

var openAIFaults = map[Fault]refusal{
	RateLimited: {
		status: http.StatusTooManyRequests, kind: "requests", code: "rate_limit_exceeded",
		message: "Rate limit reached for the model in organization org-1 on requests per min. Limit: 3 / min.",
	},
	OverloadedBefore: {
		status: http.StatusServiceUnavailable, kind: "server_error",
		message: "The engine is currently overloaded, please try again later.",
	},
	ServerError: {
		status: http.StatusInternalServerError, kind: "server_error",
		message: "The server had an error while processing your request.",
	},
	BadKey: {
		status: http.StatusUnauthorized, kind: "invalid_request_error", code: "invalid_api_key",
		message: "Incorrect API key provided.",
	},
	NoCredit: {
		status: http.StatusTooManyRequests, kind: "insufficient_quota", code: "insufficient_quota",
		message: "You exceeded your current quota, please check your plan and billing details.",
	},
	TooLong: {
		status: http.StatusBadRequest, kind: "invalid_request_error", code: "context_length_exceeded",
		message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
	},
	OverloadedWithin: {status: http.StatusServiceUnavailable, code: "server_is_overloaded", message: "Our servers are currently overloaded."},
	LimitedWithin:    {status: http.StatusTooManyRequests, code: "rate_limit_exceeded", message: "Rate limit exceeded"},
}

// chunks collects the events of a Chat Completions answer.
type chunks struct {
	Reply
	made
	out []frame
}

func (c *chunks) add(delta object, finish any, at place) {
	if finish == nil && c.Quirks.EmptyFinish {
		finish = ""
	}
	choice := object{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": nil}
	chunk := c.chunk([]object{choice})
	chunk["usage"] = nil
	if finish != nil && finish != "" && c.Quirks.UsageInChoice {
		choice["usage"] = c.tokens()
	}
	c.out = append(c.out, frame{data: chunk, at: at})
}

// last is the newest event. The format does not mark the end of a block, this one does.
func (c *chunks) last() *frame { return &c.out[len(c.out)-1] }

func (c *chunks) chunk(choices []object) object {
	return object{"id": "chatcmpl-" + c.id, "object": "chat.completion.chunk", "created": 1, "model": c.model, "choices": choices}
}

func (c *chunks) tokens() object {
	u := c.usage()
	return object{
		"prompt_tokens": u.Input + u.CacheRead + u.CacheWrite, "completion_tokens": u.Output,
		"total_tokens":          u.Input + u.CacheRead + u.CacheWrite + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
	}
}

func completionsFrames(r Reply, m made) []frame {
	c := &chunks{Reply: r, made: m}
	c.add(object{"role": "assistant", "content": ""}, nil, nowhere)
	field := "reasoning_content"
	if r.Quirks.Reasoning != "" {
		field = r.Quirks.Reasoning
	}
	for _, p := range r.pieces(r.Thinking) {
		c.add(object{field: p, "content": nil}, nil, nowhere)
	}
	if r.Thinking != "" {
		c.last().at |= blockEnded
	}
	texts := r.pieces(r.Text)
	for i, p := range texts {
		at := nowhere
		if i == middle(len(texts)) {
			at = inText
		}
		c.add(object{"content": p}, nil, at)
	}
	if r.Thinking == "" {
		c.last().at |= blockEnded
	}
	c.calls()
	finish := r.reason(map[string]string{
		provider.StopLength: "length", provider.StopToolUse: "tool_calls", provider.StopError: "content_filter",
	})
	if r.Quirks.SaysStop {
		finish = "stop"
	}
	c.add(object{}, finish, nowhere)
	if !r.Quirks.UsageInChoice {
		usage := c.chunk([]object{})
		usage["usage"] = c.tokens()
		c.out = append(c.out, frame{data: usage})
	}
	if !r.Quirks.NoDone {
		c.out = append(c.out, frame{data: raw("[DONE]")})
	}
	return c.out
}

func (c *chunks) calls() {
	for i, call := range c.ToolCalls {
		id := call.id("call_", c.made, i)
		opened := object{"index": i, "id": id, "type": "function", "function": object{"name": call.Name, "arguments": ""}}
		if call.Signature != "" {
			opened["extra_content"] = object{"google": object{"thought_signature": call.Signature}}
		}
		first := object{"tool_calls": []object{opened}}
		if c.Quirks.Details && i == 0 {
			first["reasoning_details"] = []object{{"type": "reasoning.encrypted", "id": id, "data": "sealed", "format": "x"}}
		}
		c.add(first, nil, nowhere)
		pieces := c.pieces(call.args())
		for j, p := range pieces {
			at := nowhere
			if i == 0 && j == middle(len(pieces)) {
				at = inCall
			}
			piece := object{"function": object{"arguments": p}}
			if !c.Quirks.NoIndex {
				piece["index"] = i
			}
			c.add(object{"tool_calls": []object{piece}}, nil, at)
		}
	}
}

type completionsRequest struct {
	Model               string               `json:"model"`
	Stream              bool                 `json:"stream"`
	Messages            []completionsMessage `json:"messages"`
	Tools               []completionsTool    `json:"tools"`
	MaxTokens           *int                 `json:"max_tokens"`
	MaxCompletionTokens *int                 `json:"max_completion_tokens"`
}

type completionsMessage struct {
	Role             string            `json:"role"`
	Content          content           `json:"content"`
	ReasoningContent string            `json:"reasoning_content"`
	Reasoning        string            `json:"reasoning"`
	ReasoningText    string            `json:"reasoning_text"`
	ToolCalls        []completionsCall `json:"tool_calls"`
	ToolCallID       string            `json:"tool_call_id"`
}

type completionsCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
	Extra struct {
		Google struct {
			ThoughtSignature string `json:"thought_signature"`
		} `json:"google"`
	} `json:"extra_content"`
}

type completionsTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	} `json:"function"`
}

// id is the call's, or one that is made up for the n-th call of an answer.
func (c Call) id(prefix string, m made, n int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("%s%s_%d", prefix, m.id, n)
}
