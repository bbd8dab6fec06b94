package providertest

import (
	"encoding/json"
	"net/http"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// geminiFormat is Google's generateContent.
var geminiFormat = &format{
	api: provider.GoogleGenerativeAI, path: "/v1beta/models/{call}",
	decode: decodeGemini, frames: geminiFrames,
	refuse: func(no refusal) any { return object{"error": googleError(no)} },
	within: func(no refusal) frame { return frame{data: object{"error": googleError(no)}} },
	faults: map[Fault]refusal{
		RateLimited: {
			status: http.StatusTooManyRequests, kind: "RESOURCE_EXHAUSTED", code: "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
			message: "You exceeded your current quota, please check your plan and billing details.",
		},
		OverloadedBefore: {
			status: http.StatusServiceUnavailable, kind: "UNAVAILABLE",
			message: "The model is overloaded. Please try again later.",
		},
		ServerError: {status: http.StatusInternalServerError, kind: "INTERNAL", message: "An internal error has occurred."},
		BadKey:      {status: http.StatusBadRequest, kind: "INVALID_ARGUMENT", message: "API key not valid. Please pass a valid API key."},
		NoCredit: {
			status: http.StatusTooManyRequests, kind: "RESOURCE_EXHAUSTED", code: "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
			message: "You exceeded your current quota, please check your plan and billing details.",
		},
		TooLong: {
			status: http.StatusBadRequest, kind: "INVALID_ARGUMENT",
			message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		},
		OverloadedWithin: {status: http.StatusServiceUnavailable, kind: "UNAVAILABLE", message: "The model is overloaded."},
		LimitedWithin:    {status: http.StatusTooManyRequests, kind: "RESOURCE_EXHAUSTED", message: "Resource has been exhausted."},
	},
}

// googleError is the error object of Google's services. The code of a refusal names an exceeded quota.
func googleError(no refusal) object {
	kind := no.kind
	switch kind {
	case "invalid_request_error":
		kind = "INVALID_ARGUMENT"
	case "authentication_error":
		kind = "UNAUTHENTICATED"
	case "not_found_error":
		kind = "NOT_FOUND"
	}
	e := object{"code": no.status, "message": no.message, "status": kind}
	if kind == "RESOURCE_EXHAUSTED" && no.code != "" {
		e["details"] = []object{
			{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []object{{"quotaId": no.code}}},
			{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.001s"},
		}
	}
	return e
}

// contents collects the events of an answer.
type contents struct {
	Reply
	made
	out []frame
}

func (c *contents) add(at place, part object) {
	chunk := c.chunk([]object{part})
	c.out = append(c.out, frame{data: chunk, at: at})
}

func (c *contents) chunk(parts []object) object {
	u := c.usage()
	content := object{"role": "model"}
	if parts != nil {
		content["parts"] = parts
	}
	return object{
		"candidates": []object{{"index": 0, "content": content}}, "modelVersion": c.model, "responseId": "gen-" + c.id,
		"usageMetadata": object{"promptTokenCount": u.Input + u.CacheRead + u.CacheWrite, "cachedContentTokenCount": u.CacheRead},
	}
}

func geminiFrames(r Reply, m made) []frame {
	c := &contents{Reply: r, made: m}
	first := true // the block is the first one
	block := func(all string, at place, thought bool) {
		pieces := r.pieces(all)
		for i, p := range pieces {
			part, where := object{"text": p}, nowhere
			if thought {
				part["thought"] = true
			}
			if i == middle(len(pieces)) {
				where = at
			}
			if i == len(pieces)-1 {
				if thought {
					part["thoughtSignature"] = sign(all)
				}
				if first {
					where |= blockEnded
				}
			}
			c.add(where, part)
		}
		first = first && all == ""
	}
	block(r.Thinking, nowhere, true)
	block(r.Text, inText, false)
	for i, call := range r.ToolCalls {
		at := nowhere
		if i == 0 {
			at = inCall
		}
		if first {
			at, first = at|blockEnded, false
		}
		c.add(at, call.gemini(i == 0))
	}
	if r.Text != "" && len(r.ToolCalls) == 0 {
		c.add(nowhere, object{"text": "", "thoughtSignature": sign(r.Text)})
	}
	c.finish()
	return c.out
}

// gemini is the part of a call. Only the first of parallel calls is signed.
func (c Call) gemini(first bool) object {
	call := object{"name": c.Name}
	if args := c.args(); args != "{}" { // calls without arguments may come without any
		call["args"] = json.RawMessage(args)
	}
	if c.ID != "" {
		call["id"] = c.ID
	}
	part := object{"functionCall": call}
	if first {
		part["thoughtSignature"] = signCall(c.Name, json.RawMessage(c.args()))
	}
	return part
}

// signCall is the signature of a call, whatever the spelling of its arguments.
func signCall(name string, args json.RawMessage) string {
	var v any
	_ = json.Unmarshal(args, &v) // text that is not JSON can't come back
	canonical, _ := json.Marshal(v)
	return sign("call " + name + string(canonical))
}

// finish adds the last event.
func (c *contents) finish() {
	u := c.usage()
	chunk := c.chunk(nil)
	thoughts := 0
	if c.Thinking != "" {
		thoughts = u.Output / 4
	}
	chunk["usageMetadata"] = object{
		"promptTokenCount": u.Input + u.CacheRead + u.CacheWrite, "cachedContentTokenCount": u.CacheRead,
		"candidatesTokenCount": u.Output - thoughts, "thoughtsTokenCount": thoughts,
		"totalTokenCount": u.Input + u.CacheRead + u.CacheWrite + u.Output,
	}
	reason := c.reason(map[string]string{
		provider.StopEnd: "STOP", provider.StopToolUse: "STOP", provider.StopLength: "MAX_TOKENS", provider.StopError: "SAFETY",
	})
	if candidates, ok := chunk["candidates"].([]object); ok {
		candidates[0]["finishReason"] = reason
	}
	c.out = append(c.out, frame{data: chunk})
}
