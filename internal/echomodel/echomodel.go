// Package echomodel has a model service for tests with real agents.
package echomodel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Service is a model service with the Messages API of Anthropic, for agents that send more requests than a test could script. The
// newest prompt with brackets says what it answers: [[tool:NAME {json}]] calls a tool, [[endless]] begins an answer that does not end, and
// [[]] repeats the last text, as do prompts without brackets.
type Service struct {
	*httptest.Server
	Begun chan struct{} // gets a value when an endless answer has begun

	mu    sync.Mutex
	last  []string // the last text of each request; guarded by mu, like all below
	whole string   // all texts of the last request
	tools []string // the names of the tools of the last request that had some
	n     int
}

var toolPattern = regexp.MustCompile(`(?s)\[\[tool:(\w+) (\{.*?\})\]\]`)

// New starts a service that ends with the test.
func New(t testing.TB) *Service {
	t.Helper()
	m := &Service{Begun: make(chan struct{}, 10)}
	m.Server = httptest.NewServer(m)
	t.Cleanup(func() { m.CloseClientConnections(); m.Close() })
	return m
}

// Texts returns the texts of content, and whether it is the result of a tool.
func Texts(raw json.RawMessage) (text string, result bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, false
	}
	var parts []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(raw, &parts)
	for _, p := range parts {
		if p.Type == "tool_result" {
			inner, _ := Texts(p.Content)
			text, result = text+inner, true
		}
		text += p.Text
	}
	return text, result
}

// own is a prompt without what an agent put before it.
func own(prompt string) string {
	const end = "</system-reminder>"
	if i := strings.LastIndex(prompt, end); i >= 0 {
		prompt = prompt[i+len(end):]
	}
	return strings.TrimSpace(prompt)
}

// ServeHTTP implements [http.Handler].
func (m *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if strings.HasSuffix(r.URL.Path, "/count_tokens") {
		_, _ = fmt.Fprint(w, `{"input_tokens":10}`)
		return
	}
	var q struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if r.Method != http.MethodPost || json.Unmarshal(body, &q) != nil {
		_, _ = fmt.Fprint(w, `{"data":[]}`)
		return
	}
	prompt, last, whole, results := "", "", "", 0
	for _, msg := range q.Messages {
		text, result := Texts(msg.Content)
		whole += text + "\n"
		if msg.Role != "user" {
			continue
		}
		last = text
		switch {
		case result:
			results++
		case strings.Contains(text, "[["):
			// An agent may send a prompt that was cancelled together with the next one.
			prompt, results = text[strings.LastIndex(text, "[["):], 0
		}
	}
	m.mu.Lock()
	m.last, m.whole = append(m.last, last), whole
	if len(q.Tools) > 0 {
		m.tools = nil
		for _, t := range q.Tools {
			m.tools = append(m.tools, t.Name)
		}
	}
	m.n++
	id := m.n
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(name, data string) {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
		_ = http.NewResponseController(w).Flush() // the client may have left
	}
	send("message_start", fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}}`, id))
	send("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
	call := toolPattern.FindStringSubmatch(prompt)
	text := "Echo: " + own(last)
	if call != nil && results == 0 && len(q.Tools) > 0 {
		text = "Calling."
	} else {
		call = nil
	}
	for _, word := range strings.SplitAfter(text, " ") {
		b, _ := json.Marshal(word)
		send("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`+string(b)+`}}`)
		if strings.Contains(prompt, "[[endless]]") && len(q.Tools) > 0 {
			m.Begun <- struct{}{}
			<-r.Context().Done()
			return
		}
	}
	send("content_block_stop", `{"type":"content_block_stop","index":0}`)
	stop := "end_turn"
	if call != nil {
		stop = "tool_use"
		args, _ := json.Marshal(call[2])
		send("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}}`, id, call[1]))
		send("content_block_delta", `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":`+string(args)+`}}`)
		send("content_block_stop", `{"type":"content_block_stop","index":1}`)
	}
	send("message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+stop+`","stop_sequence":null},"usage":{"output_tokens":5}}`)
	send("message_stop", `{"type":"message_stop"}`)
}

// Seen returns the last text that the model was sent.
func (m *Service) Seen() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[len(m.last)-1]
}

// Conversation returns all texts of the last request, and the names of the tools.
func (m *Service) Conversation() (texts string, tools []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.whole, m.tools
}

// Saw reports whether the model was sent a text. Agents send requests of their own, too.
func (m *Service) Saw(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.last, func(s string) bool { return strings.Contains(s, text) })
}
