package providertest

import (
	"encoding/json"
	"net/http"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// anthropicFormat is Anthropic's Messages.
var anthropicFormat = &format{
	api: provider.AnthropicMessages, path: "/v1/messages",
	decode: decodeAnthropic, frames: anthropicFrames,
	refuse: func(no refusal) any {
		return object{
			"type": "error", "error": object{"type": no.kind, "message": no.message}, "request_id": "req_body",
		}
	},
	within: func(no refusal) frame {
		return frame{event: "error", data: object{"type": "error", "error": object{"type": no.kind, "message": no.message}}}
	},
	faults: map[Fault]refusal{
		RateLimited: {
			status: http.StatusTooManyRequests, kind: "rate_limit_error",
			message: "This request would exceed your organization's rate limit of 50 requests per minute.",
		},
		OverloadedBefore: {status: 529, kind: "overloaded_error", message: "Overloaded"},
		ServerError:      {status: http.StatusInternalServerError, kind: "api_error", message: "Internal server error"},
		BadKey:           {status: http.StatusUnauthorized, kind: "authentication_error", message: "invalid x-api-key"},
		NoCredit: {
			status: http.StatusBadRequest, kind: "invalid_request_error",
			message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.",
		},
		TooLong: {
			status: http.StatusBadRequest, kind: "invalid_request_error",
			message: "prompt is too long: 210000 tokens > 200000 maximum",
		},
		OverloadedWithin: {kind: "overloaded_error", message: "Overloaded"},
		LimitedWithin:    {kind: "rate_limit_error", message: "This request would exceed your rate limit."},
	},
}

func anthropicFrames(r Reply, m made) []frame {
	u := r.usage()
	var out []frame
	event := func(data object, at place) {
		name, _ := data["type"].(string) // every event is built below
		out = append(out, frame{event: name, data: data, at: at})
	}
	index := 0
	block := func(start object, deltas []object, at place, middleOf int) {
		event(object{"type": "content_block_start", "index": index, "content_block": start}, nowhere)
		for i, d := range deltas {
			where := nowhere
			if i == middleOf {
				where = at
			}
			event(object{"type": "content_block_delta", "index": index, "delta": d}, where)
		}
		ended := nowhere
		if index == 0 {
			ended = blockEnded
		}
		event(object{"type": "content_block_stop", "index": index}, ended)
		index++
	}

	event(object{"type": "message_start", "message": object{
		"id": "msg_" + m.id, "type": "message", "role": "assistant", "model": m.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": object{
			"input_tokens": u.Input, "cache_creation_input_tokens": u.CacheWrite,
			"cache_read_input_tokens": u.CacheRead, "output_tokens": 1,
		},
	}}, nowhere)
	event(object{"type": "ping"}, nowhere)
	if r.Thinking != "" {
		var deltas []object
		for _, p := range r.pieces(r.Thinking) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": p})
		}
		a, b := half(sign(r.Thinking))
		deltas = append(deltas, object{"type": "signature_delta", "signature": a}, object{"type": "signature_delta", "signature": b})
		block(object{"type": "thinking", "thinking": "", "signature": ""}, deltas, nowhere, -1)
	}
	if r.Redacted != "" {
		block(object{"type": "redacted_thinking", "data": r.Redacted}, nil, nowhere, -1)
	}
	if r.Text != "" {
		var deltas []object
		for _, p := range r.pieces(r.Text) {
			deltas = append(deltas, object{"type": "text_delta", "text": p})
		}
		block(object{"type": "text", "text": ""}, deltas, inText, middle(len(deltas)))
	}
	for i, c := range r.ToolCalls {
		var deltas []object
		if args := c.args(); args != "{}" { // calls without arguments may come without any JSON
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": ""})
			for _, p := range r.pieces(args) {
				deltas = append(deltas, object{"type": "input_json_delta", "partial_json": p})
			}
		}
		at := nowhere
		if i == 0 {
			at = inCall
		}
		block(object{"type": "tool_use", "id": c.id("toolu_", m, i), "name": c.Name, "input": object{}}, deltas, at, middle(len(deltas)))
	}
	stop := r.reason(map[string]string{
		provider.StopEnd: "end_turn", provider.StopLength: "max_tokens", provider.StopToolUse: "tool_use", provider.StopError: "refusal",
	})
	event(object{
		"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil},
		"usage": object{"output_tokens": u.Output},
	}, nowhere)
	event(object{"type": "message_stop"}, nowhere)
	return out
}

// anthropicRequest has every known field, because the service refuses others.
type anthropicRequest struct {
	Model         string             `json:"model"`
	MaxTokens     *int               `json:"max_tokens"`
	Stream        bool               `json:"stream"`
	System        content            `json:"system"`
	Messages      []anthropicMessage `json:"messages"`
	Tools         []anthropicTool    `json:"tools"`
	ToolChoice    json.RawMessage    `json:"tool_choice"`
	Thinking      *anthropicThinking `json:"thinking"`
	OutputConfig  json.RawMessage    `json:"output_config"`
	Metadata      json.RawMessage    `json:"metadata"`
	Temperature   *float64           `json:"temperature"`
	StopSequences []string           `json:"stop_sequences"`
}

type anthropicMessage struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

type anthropicTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl json.RawMessage `json:"cache_control"`
	Eager        *bool           `json:"eager_input_streaming"`
	Strict       *bool           `json:"strict"`
}

type anthropicThinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens"`
	Display string `json:"display"`
}
