package providertest

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// bedrockFormat is Converse of Amazon Bedrock.
var bedrockFormat = &format{
	api: provider.BedrockConverse, path: "/model/{id}/converse-stream",
	decode: decodeBedrock, frames: bedrockFrames,
	refuse: func(no refusal) any { return object{"message": no.message} },
	within: func(no refusal) frame {
		return frame{event: exceptionPrefix + no.kind, data: object{"message": no.message}}
	},
	media: "application/vnd.amazon.eventstream", frame: amazonFrame,
	faults: map[Fault]refusal{
		RateLimited: {status: http.StatusTooManyRequests, message: "Too many tokens, please wait before trying again."},
		OverloadedBefore: {
			status:  http.StatusServiceUnavailable,
			message: "Bedrock is unable to process your request.",
		},
		ServerError: {status: http.StatusInternalServerError, message: "The system encountered an unexpected error during processing."},
		BadKey:      {status: http.StatusForbidden, message: "The security token included in the request is invalid."},
		NoCredit:    {status: http.StatusBadRequest, message: "Your account has an unresolved billing problem."},
		TooLong:     {status: http.StatusBadRequest, message: "The model returned the following errors: Input is too long for requested model."},

		OverloadedWithin: {kind: "serviceUnavailableException", message: "Bedrock is unable to process your request."},
		LimitedWithin:    {kind: "throttlingException", message: "Too many tokens, please wait before trying again."},
	},
}

const exceptionPrefix = "exception:"

// amazonFrame is a message of Amazon's event streams.
func amazonFrame(name string, data []byte) []byte {
	var headers []byte
	header := func(name, value string) {
		headers = append(append(headers, byte(len(name))), name...)
		headers = append(binary.BigEndian.AppendUint16(append(headers, 7), uint16(len(value))), value...)
	}
	if kind, ok := strings.CutPrefix(name, exceptionPrefix); ok {
		header(":exception-type", kind)
		header(":message-type", "exception")
	} else {
		header(":event-type", name)
		header(":message-type", "event")
	}
	header(":content-type", "application/json")
	const fixed = 16 // two lengths and two checksums
	out := binary.BigEndian.AppendUint32(nil, uint32(fixed+len(headers)+len(data)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(headers)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, headers...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

// converse collects the events of an answer.
type converse struct {
	Reply
	out   []frame
	index int
}

func (c *converse) event(name string, at place, data object) {
	c.out = append(c.out, frame{event: name, data: data, at: at})
}

func (c *converse) delta(at place, delta object) {
	c.event("contentBlockDelta", at, object{"contentBlockIndex": c.index, "delta": delta})
}

// block sends the pieces of a block, of which the middle one is at the place.
func (c *converse) block(at place, deltas ...object) {
	for i, d := range deltas {
		where := nowhere
		if i == middle(len(deltas)) {
			where = at
		}
		c.delta(where, d)
	}
	ended := nowhere
	if c.index == 0 {
		ended = blockEnded
	}
	c.event("contentBlockStop", ended, object{"contentBlockIndex": c.index})
	c.index++
}

func bedrockFrames(r Reply, m made) []frame {
	c := &converse{Reply: r}
	c.event("messageStart", nowhere, object{"role": "assistant", "p": "abc"})
	if r.Thinking != "" {
		var deltas []object
		for _, p := range r.pieces(r.Thinking) {
			deltas = append(deltas, object{"reasoningContent": object{"text": p}})
		}
		a, b := half(sign(r.Thinking))
		c.block(nowhere, append(deltas, object{"reasoningContent": object{"signature": a}}, object{"reasoningContent": object{"signature": b}})...)
	}
	if r.Redacted != "" {
		c.block(nowhere, object{"reasoningContent": object{"redactedContent": base64.StdEncoding.EncodeToString([]byte(r.Redacted))}})
	}
	if r.Text != "" {
		var deltas []object
		for _, p := range r.pieces(r.Text) {
			deltas = append(deltas, object{"text": p})
		}
		c.block(inText, deltas...)
	}
	for i, call := range r.ToolCalls {
		c.event("contentBlockStart", nowhere, object{
			"contentBlockIndex": c.index, "start": object{"toolUse": object{"toolUseId": call.id("tooluse_", m, i), "name": call.Name}},
		})
		var deltas []object
		for _, p := range r.pieces(call.args()) {
			deltas = append(deltas, object{"toolUse": object{"input": p}})
		}
		at := nowhere
		if i == 0 {
			at = inCall
		}
		c.block(at, deltas...)
	}
	stop := r.reason(map[string]string{
		provider.StopEnd: "end_turn", provider.StopLength: "max_tokens", provider.StopToolUse: "tool_use", provider.StopError: "guardrail_intervened",
	})
	c.event("messageStop", nowhere, object{"stopReason": stop})
	u := r.usage()
	c.event("metadata", nowhere, object{"metrics": object{"latencyMs": 1}, "usage": object{
		"inputTokens": u.Input, "outputTokens": u.Output, "cacheReadInputTokens": u.CacheRead, "cacheWriteInputTokens": u.CacheWrite,
		"totalTokens": u.Input + u.Output + u.CacheRead + u.CacheWrite,
	}})
	return c.out
}
