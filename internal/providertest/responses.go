package providertest

import (
	"encoding/base64"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// responsesFormat is OpenAI's Responses.
var responsesFormat = &format{
	api: provider.OpenAIResponses, path: "/v1/responses",
	decode: decodeResponses, frames: responsesFrames, refuse: openAIError,
	within: func(no refusal) frame {
		// Both forms occur: a failed answer, and an error that is an event of its own.
		if no.code == "rate_limit_exceeded" {
			return frame{event: "error", data: object{
				"type": "error", "code": no.code, "message": no.message, "param": nil, "sequence_number": 99,
			}}
		}
		return frame{event: "response.failed", data: object{
			"type": "response.failed", "sequence_number": 99,
			"response": object{"status": "failed", "error": object{"code": no.code, "message": no.message}},
		}}
	},
	faults: openAIFaults,
}

// items collects the events of a Responses answer.
type items struct {
	Reply
	made
	out   []frame
	index int
}

func (s *items) event(kind string, at place, data object) {
	data["type"], data["sequence_number"] = kind, len(s.out)
	s.out = append(s.out, frame{event: kind, data: data, at: at})
}

// item sends an item around the events that inner sends.
func (s *items) item(begun, ended object, inner func()) {
	s.event("response.output_item.added", nowhere, object{"output_index": s.index, "item": begun})
	inner()
	at := nowhere
	if s.index == 0 {
		at = blockEnded
	}
	s.event("response.output_item.done", at, object{"output_index": s.index, "item": ended})
	s.index++
}

func responsesFrames(r Reply, m made) []frame {
	s := &items{Reply: r, made: m}
	start := object{"id": "resp_" + m.id, "object": "response", "status": "in_progress", "model": m.model, "output": []any{}}
	s.event("response.created", nowhere, object{"response": start})
	s.event("response.in_progress", nowhere, object{"response": start})
	if r.Thinking != "" || r.Redacted != "" {
		s.reasoning()
	}
	if r.Text != "" {
		s.message()
	}
	for i := range r.ToolCalls {
		s.call(i)
	}
	s.last()
	return s.out
}

func (s *items) reasoning() {
	id := "rs_" + s.id
	summary := []object{}
	if s.Thinking != "" {
		summary = append(summary, object{"type": "summary_text", "text": s.Thinking})
	}
	ended := object{"id": id, "type": "reasoning", "summary": summary, "encrypted_content": seal(s.Thinking + s.Redacted)}
	s.item(object{"id": id, "type": "reasoning", "summary": []any{}}, ended, func() {
		if s.Thinking == "" {
			return
		}
		at := func(more object) object {
			more["item_id"], more["output_index"], more["summary_index"] = id, s.index, 0
			return more
		}
		s.event("response.reasoning_summary_part.added", nowhere, at(object{"part": object{"type": "summary_text", "text": ""}}))
		for _, p := range s.pieces(s.Thinking) {
			s.event("response.reasoning_summary_text.delta", nowhere, at(object{"delta": p}))
		}
		s.event("response.reasoning_summary_text.done", nowhere, at(object{"text": s.Thinking}))
		s.event("response.reasoning_summary_part.done", nowhere, at(object{"part": summary[0]}))
	})
}

// itemID is the id of an item. It encodes whether the item needs the reasoning before it, which the
// real service knows of its items, too.
func (s *items) itemID(prefix string, n int) string {
	if s.Thinking != "" || s.Redacted != "" {
		prefix += "r"
	}
	return prefix + s.id + "_" + strconv.Itoa(n)
}

func (s *items) message() {
	id := s.itemID("msg_", 0)
	text := object{"type": "output_text", "text": s.Text, "annotations": []any{}}
	ended := object{"id": id, "type": "message", "role": "assistant", "status": "completed", "content": []object{text}}
	begun := object{"id": id, "type": "message", "role": "assistant", "status": "in_progress", "content": []any{}}
	s.item(begun, ended, func() {
		at := func(more object) object {
			more["item_id"], more["output_index"], more["content_index"] = id, s.index, 0
			return more
		}
		s.event("response.content_part.added", nowhere, at(object{"part": object{"type": "output_text", "text": ""}}))
		pieces := s.pieces(s.Text)
		for i, p := range pieces {
			where := nowhere
			if i == middle(len(pieces)) {
				where = inText
			}
			s.event("response.output_text.delta", where, at(object{"delta": p}))
		}
		s.event("response.output_text.done", nowhere, at(object{"text": s.Text}))
		s.event("response.content_part.done", nowhere, at(object{"part": text}))
	})
}

func (s *items) call(n int) {
	c := s.ToolCalls[n]
	id := s.itemID("fc_", n)
	item := func(status, args string) object {
		return object{
			"id": id, "type": "function_call", "status": status, "name": c.Name, "arguments": args, "call_id": c.id("call_", s.made, n),
		}
	}
	s.item(item("in_progress", ""), item("completed", c.args()), func() {
		pieces := s.pieces(c.args())
		for i, p := range pieces {
			where := nowhere
			if n == 0 && i == middle(len(pieces)) {
				where = inCall
			}
			s.event("response.function_call_arguments.delta", where, object{"item_id": id, "output_index": s.index, "delta": p})
		}
		s.event("response.function_call_arguments.done", nowhere, object{"item_id": id, "output_index": s.index, "arguments": c.args()})
	})
}

// last sends the final event.
func (s *items) last() {
	u := s.usage()
	response := object{"id": "resp_" + s.id, "object": "response", "model": s.model, "status": "completed", "usage": object{
		"input_tokens": u.Input + u.CacheRead + u.CacheWrite, "output_tokens": u.Output,
		"input_tokens_details": object{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"total_tokens":         u.Input + u.CacheRead + u.CacheWrite + u.Output,
	}}
	kind := "response.completed"
	incomplete := s.reason(map[string]string{
		provider.StopEnd: "", provider.StopToolUse: "", provider.StopLength: "max_output_tokens", provider.StopError: "content_filter",
	})
	if incomplete != "" {
		kind = "response.incomplete"
		response["status"], response["incomplete_details"] = "incomplete", object{"reason": incomplete}
	}
	s.event(kind, nowhere, object{"response": response})
}

// seal makes the opaque form of thinking, unseal recognises its own.
func seal(thinking string) string {
	return base64.StdEncoding.EncodeToString([]byte(sign(thinking) + thinking))
}

func unseal(sealed string) bool {
	const signature = 44 // characters of a SHA-256 in base64
	plain, err := base64.StdEncoding.DecodeString(sealed)
	return err == nil && len(plain) >= signature && sign(string(plain[signature:])) == string(plain[:signature])
}
