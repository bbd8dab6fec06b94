package enginetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// NewService is a model's service in the form of Anthropic's, on loopback, which follows the scripts that the double
// follows. It is for the real pi; see [RealPi].
func NewService(t testing.TB) *httptest.Server {
	t.Helper()
	var mu sync.Mutex
	failures := map[string]int{} // guarded by mu
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // an incomplete one has no script
		var request struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		_ = json.Unmarshal(body, &request) // as above
		var script script
		done, echo := 0, ""
		for _, m := range request.Messages {
			var blocks []struct {
				Type, Text string
				Content    json.RawMessage
			}
			if json.Unmarshal(m.Content, &blocks) != nil {
				blocks = append(blocks, struct {
					Type, Text string
					Content    json.RawMessage
				}{"text", textOf(object("content", m.Content)), nil})
			}
			for _, b := range blocks {
				switch {
				case b.Type == "tool_result":
					done++
					echo = textOf(object("content", b.Content))
				case m.Role == "user" && b.Type == "text" && (strings.Contains(b.Text, "[[") || !strings.Contains(script.source, "[[")):
					script, done, echo = parseScript(b.Text), 0, b.Text
				case m.Role == "user" && b.Type == "text":
					echo = b.Text
				}
			}
		}
		if mu.Lock(); script.fail != 0 && failures[script.source] < script.times {
			failures[script.source]++
			mu.Unlock()
			w.WriteHeader(script.fail)
			kind := map[bool]string{true: "overloaded_error", false: "api_error"}[script.fail == 529]
			_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"%s","message":"mock %d"}}`, kind, script.fail)
			return
		}
		mu.Unlock()
		serve(w, r, script, done, echo)
	}))
	t.Cleanup(s.Close)
	return s
}

// serve streams one answer.
func serve(w http.ResponseWriter, r *http.Request, s script, done int, echo string) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, members ...any) {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, object(append([]any{"type", kind}, members...)...))
		_ = http.NewResponseController(w).Flush()
	}
	if s.hang {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return
	}
	usage := object("input_tokens", 100, "output_tokens", 1)
	send("message_start", "message", object("id", "msg_1", "type", "message", "role", "assistant", "model", "mock-large", "content", []int{}, "stop_reason", nil, "usage", usage))
	index := 0
	block := func(start json.RawMessage, deltas ...json.RawMessage) {
		send("content_block_start", "index", index, "content_block", start)
		for _, d := range deltas {
			if !wait(r.Context(), s.slow) {
				return
			}
			send("content_block_delta", "index", index, "delta", d)
		}
		send("content_block_stop", "index", index)
		index++
	}
	if s.think {
		block(object("type", "thinking", "thinking", "", "signature", ""), object("type", "thinking_delta", "thinking", "Mock thinking."), object("type", "signature_delta", "signature", "c2ln"))
	}
	calls := s.tools[min(done, len(s.tools)):]
	if len(calls) > 1 && !s.par {
		calls = calls[:1]
	}
	text := s.say
	switch {
	case len(calls) > 0:
		text = "Calling tools."
	case s.big > 0:
		text = strings.Repeat("x", s.big)
	case text == "":
		text = "Echo: " + echo[:min(len(echo), 60)]
	}
	var deltas []json.RawMessage
	for word := range words(text, mostOfPiece) {
		deltas = append(deltas, object("type", "text_delta", "text", word))
	}
	block(object("type", "text", "text", ""), deltas...)
	reason := "end_turn"
	for _, c := range calls {
		reason = "tool_use"
		block(object("type", "tool_use", "id", "toolu_"+newEntryID(), "name", c.name, "input", object()), object("type", "input_json_delta", "partial_json", string(c.args)))
	}
	send("message_delta", "delta", object("stop_reason", reason, "stop_sequence", nil), "usage", object("output_tokens", 10))
	send("message_stop")
}
