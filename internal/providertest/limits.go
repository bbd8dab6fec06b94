package providertest

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// Limits are those of a model. The server refuses requests that exceed them, as services do, and
// counts the input of the others. A zero field is no limit.
type Limits struct {
	Window int  // input and longest answer together, in tokens
	Output int  // longest answer, in tokens
	Signed bool // tool calls have Gemini's signature, that of the reply or the one for calls of other models

	NoImages  bool // every image is rejected
	NoStrict  bool // every strict tool is rejected
	NoHistory bool // every conversation that a service compacted is rejected, as that of another account

	// Reject returns the reason to reject a request for its content, "" for none.
	Reject func(Request) string
}

// Limit enforces limits for the model with this id. Replies without a usage then report the real
// size of their request. Call it before the first request.
func (s *Server) Limit(id string, l Limits) {
	if s.limits == nil {
		s.limits = map[string]Limits{}
	}
	s.limits[id] = l
}

// check returns the reason to refuse a request, nil if there is none.
func (l Limits) check(f *format, req Request) *refusal {
	in := req.Tokens()
	if l.Reject != nil {
		if reason := l.Reject(req); reason != "" {
			return invalid("%s", reason)
		}
	}
	switch {
	case l.NoImages && req.hasImages():
		return invalid("messages.0.content.1.image.source.base64.data: Could not process image")
	case l.NoHistory && bytes.Contains(req.Body, []byte(`"compaction"`)):
		return invalid("The encrypted content could not be verified.")
	case l.NoStrict && req.strict:
		return invalid("The compiled grammar is too large, which would cause performance issues. Simplify your tool schemas or reduce the number of strict tools.")
	case l.Signed && !signed(req):
		return invalid("Function call is missing a thought_signature in functionCall parts.")
	case l.Output > 0 && req.MaxTokens > l.Output:
		return invalid("max_tokens: %d > %d, which is the maximum allowed number of output tokens for %s", req.MaxTokens, l.Output, req.Model)
	case l.Window > 0 && in > l.Window:
		no := f.faults[TooLong]
		return &no
	case l.Window > 0 && in+req.MaxTokens > l.Window:
		return &refusal{http.StatusBadRequest, "invalid_request_error", "", fmt.Sprintf(
			"input length and `max_tokens` exceed context limit: %d + %d > %d", in, req.MaxTokens, l.Window)}
	}
	return nil
}

// signed reports whether every tool call of the request has a signature.
func signed(req Request) bool {
	for _, m := range req.Messages {
		for i, call := range m.ToolCalls() {
			if i > 0 && google(req.API) {
				break // of parallel calls it signs the first one
			}
			if call.ThoughtSignature == "" {
				return false
			}
		}
	}
	return true
}

func (r Request) hasImages() bool {
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if b.Type == provider.TypeImage {
				return true
			}
		}
	}
	return false
}

// bytesPerToken of the fake tokenizer.
const bytesPerToken = 4

// Tokens is the size of the request, as the service counts it.
func (r Request) Tokens() int {
	size, images := provider.FixedLen(r.System, r.Tools), 0
	for _, m := range r.Messages {
		for _, b := range m.Content {
			size += len(b.Text) + len(b.Thinking) + len(b.Name) + len(b.Arguments)
			if b.Type == provider.TypeImage {
				images++
			}
		}
	}
	return size/bytesPerToken + images*provider.ImageTokens
}
