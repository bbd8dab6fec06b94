package providertest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
)

// Run is the test suite for a client of a service that speaks api. It must not be called from a
// parallel test, because it inspects the goroutines of the whole process.
func Run(t *testing.T, api provider.API, newProvider func(guard.Options) provider.Provider) {
	t.Helper()
	s := suite{api: api, newProvider: newProvider}
	t.Run("nothing is left running", s.leaks)
	t.Run("a complete answer", s.complete)
	t.Run("reasons to stop", s.stops)
	t.Run("a conversation continues", s.conversation)
	t.Run("arguments that are not an object", s.arguments)
	for _, f := range Faults {
		t.Run("fault: "+f.String(), func(t *testing.T) { s.fault(t, f) })
	}
	t.Run("silence before the first byte", s.silence)
	t.Run("waiting is asked for", s.retryAfter)
	t.Run("keys", s.keys)
	t.Run("no server", s.noServer)
	t.Run("redirects", s.redirects)
	t.Run("cancelled in the middle", s.cancelled)
	t.Run("cancelled before it began", s.cancelledBefore)
	t.Run("the reader leaves", s.leaves)
	t.Run("an event of 3 MB", s.large)
	for name, change := range framings {
		if s.api == provider.BedrockConverse && name != "one byte at a time" {
			continue // its framing is not text
		}
		t.Run("framing: "+name, func(t *testing.T) {
			k := s.kit(t)
			k.wire.change = change
			k.Script("m", Reply{Thinking: "Grüße 🌍", Text: "naïve 你好 🌍", ToolCalls: []Call{{Name: "read", Args: map[string]any{"path": "ü"}}}})
			o := Collect(t, k.client.Stream(t.Context(), k.ask()))
			require.Nil(t, o.Err)
			require.Equal(t, "naïve 你好 🌍", o.Message.PlainText())
			require.JSONEq(t, `{"path":"ü"}`, string(o.Message.ToolCalls()[0].Arguments))
		})
	}
}

type suite struct {
	api         provider.API
	newProvider func(guard.Options) provider.Provider
}

func (s suite) kit(t *testing.T) *kit {
	t.Helper()
	return newKit(t, s.api, s.newProvider)
}

func (s suite) complete(t *testing.T) {
	k := s.kit(t)
	k.Script("m", Reply{
		Thinking: "First I look.", Text: "I read both.",
		ToolCalls: []Call{{Name: "read", Args: map[string]any{"path": "a.go", "limit": 3}}, {Name: "ls"}},
	})
	req := k.ask()
	req.System = "Be brief."
	req.Tools = tools
	req.Thinking = provider.Medium
	req.SessionID = "s-1"
	o := Collect(t, k.client.Stream(t.Context(), req))
	require.Nil(t, o.Err)

	m := o.Message
	require.Len(t, m.Content, 4)
	assert.Equal(t, "First I look.", m.Content[0].Thinking)
	assert.NotEmpty(t, m.Content[0].ThinkingSignature)
	assert.Equal(t, "I read both.", m.PlainText())
	calls := m.ToolCalls()
	assert.Equal(t, "read", calls[0].Name)
	assert.JSONEq(t, `{"path":"a.go","limit":3}`, string(calls[0].Arguments))
	assert.Equal(t, "{}", string(calls[1].Arguments))
	assert.NotEqual(t, calls[0].ID, calls[1].ID)
	assert.Equal(t, provider.StopToolUse, m.StopReason)
	assert.Equal(t, s.api == provider.BedrockConverse, m.ResponseID == "", "only Bedrock does not name its answers")
	assert.Equal(t, []any{s.api, "fake", "m"}, []any{m.API, m.Provider, m.Model})
	assert.Equal(t, now.UnixMilli(), m.Timestamp)
	u := *m.Usage
	written := 10
	if google(s.api) {
		written = 0 // it does not say what it writes to its cache
	}
	assert.Equal(t, []int{110 - written, 20, 40, written, 170}, []int{u.Input, u.Output, u.CacheRead, u.CacheWrite, u.TotalTokens})
	assert.InDelta(t, (float64(110-written)*3+20*15+40*0.3+float64(written)*3.75)/1e6, u.Cost.Total, 1e-12)

	got := k.Requests()[0]
	assert.Equal(t, "Be brief.", got.System)
	assert.Equal(t, "Hello?", got.LastText())
	assert.Positive(t, got.MaxTokens)
	require.Len(t, got.Tools, len(tools))
	assert.Equal(t, "read", got.Tools[0].Name)
	assert.JSONEq(t, string(tools[0].Parameters), string(got.Tools[0].Parameters))
}

var tools = []provider.Tool{
	{Name: "read", Description: "Reads <a> file & shows it.", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
	{Name: "ls", Description: "Lists.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
}

func (s suite) stops(t *testing.T) {
	k := s.kit(t)
	k.Script("m",
		Reply{Text: "that is all"}, Reply{Text: "and then", Stop: provider.StopLength}, Reply{Text: "No", Stop: provider.StopError})
	o := Collect(t, k.client.Stream(t.Context(), k.ask()))
	require.Equal(t, provider.StopEnd, o.Message.StopReason)
	o = Collect(t, k.client.Stream(t.Context(), k.ask()))
	require.Equal(t, provider.StopLength, o.Message.StopReason)
	o = Collect(t, k.client.Stream(t.Context(), k.ask()))
	require.NotNil(t, o.Err)
	require.Equal(t, provider.Refused, o.Err.Class)
	require.Equal(t, "No", o.Message.PlainText())
}

// conversation runs several turns; the server refuses the conversations that services refuse.
func (s suite) conversation(t *testing.T) {
	k := s.kit(t)
	k.Script("m",
		Reply{Thinking: "look", Text: "Reading.", ToolCalls: []Call{{Name: "read", Args: map[string]any{"path": "a"}}, {Name: "ls"}}},
		Reply{Redacted: "sealed", ToolCalls: []Call{{Name: "ls"}}},
		Reply{Text: "Done."})
	req := k.ask()
	req.Tools, req.Thinking = tools, provider.High
	for range 3 {
		o := Collect(t, k.client.Stream(t.Context(), req))
		require.Nil(t, o.Err, "%v", o.Err)
		req.Messages = append(req.Messages, o.Message)
		for _, c := range o.Message.ToolCalls() {
			failed := false
			req.Messages = append(req.Messages, provider.Message{
				Role: provider.RoleToolResult, ToolCallID: c.ID, ToolName: c.Name, IsError: &failed,
				Content: []provider.Block{provider.Text("result of " + c.Name)},
			})
		}
	}
	last := k.Requests()[2]
	var texts, thoughts []string
	for _, m := range last.Messages {
		if m.Role == provider.RoleToolResult {
			texts = append(texts, m.PlainText())
		}
		for _, b := range m.Content {
			if b.Thinking != "" {
				thoughts = append(thoughts, b.Thinking)
			}
		}
	}
	require.Equal(t, []string{"result of read", "result of ls", "result of ls"}, texts)
	require.Equal(t, []string{"look"}, thoughts, "thinking goes back to the model it is from")
	first, second := k.Requests()[0].Body, k.Requests()[1].Body
	require.NotEqual(t, string(first), string(second))
}

func (s suite) arguments(t *testing.T) {
	k := s.kit(t)
	for _, raw := range []string{`{"a":`, `[1]`, `{"a":1,"a":2}`, `"text"`} {
		if google(s.api) && !json.Valid([]byte(raw)) {
			continue // there they are not a text
		}
		k.Script("m", Reply{ToolCalls: []Call{{Name: "read", Args: json.RawMessage(raw)}}})
		o := Collect(t, k.client.Stream(t.Context(), k.ask()))
		require.Nil(t, o.Err)
		c := o.Message.ToolCalls()[0]
		require.Equal(t, "{}", string(c.Arguments))
		require.Contains(t, c.ArgumentsError, raw)
	}
}

func (s suite) fault(t *testing.T, f Fault) {
	k := s.kit(t)
	reply := Reply{Text: "0123456789abcdef", ToolCalls: []Call{{Name: "read", Args: map[string]any{"path": "some/file"}}}, Fault: f, Chunk: 4}
	if f == OverloadedWithin {
		reply.Thinking = "well"
	}
	k.Script("m", reply)
	o := CollectWith(t, k.client.Stream(t.Context(), k.ask()), func(e provider.Event) {
		if f == Stall && e.Delta == "4567" { // the last piece
			k.timer.fireNext()
		}
	})
	require.NotNil(t, o.Err)
	assert.Equal(t, f.Class(), o.Err.Class, o.Err.Message)
	assert.Equal(t, int32(1), k.wire.requests.Load(), "one call is one request")
	assert.NotContains(t, o.Err.Message, "<")
	assert.NotContains(t, o.Err.Message, "http://")
	switch {
	case f.before():
		assert.Empty(t, o.Message.Content)
	case f.where() == inText:
		assert.Equal(t, "01234567", o.Message.PlainText())
	case f.where() == inCall && !google(s.api): // there calls come whole
		c := o.Message.ToolCalls()
		require.Len(t, c, 1)
		assert.Equal(t, "{}", string(c[0].Arguments))
		assert.NotEmpty(t, c[0].ArgumentsError)
	}
	if f.before() && f != HTML && f != CutBefore {
		want := map[provider.API]refusal{
			provider.AnthropicMessages: anthropicFormat.faults[f],
			provider.OpenAICompletions: openAIFaults[f], provider.OpenAIResponses: openAIFaults[f],
			provider.AzureResponses: openAIFaults[f], provider.GoogleGenerativeAI: geminiFormat.faults[f], provider.GoogleVertex: geminiFormat.faults[f],
			provider.BedrockConverse: bedrockFormat.faults[f],
		}[s.api]
		assert.Equal(t, want.status, o.Err.Status)
		assert.Contains(t, o.Err.Message, want.message)
	}
	switch f {
	default:
		assert.NotEmpty(t, o.Err.RequestID)
		assert.Contains(t, o.Message.ErrorMessage, o.Err.RequestID)
	case CutBefore: // without a response there is no id
	case HTML:
		assert.Contains(t, o.Err.Message, "Welcome to the hotel Please accept our terms & conditions.")
	}
}

func (s suite) silence(t *testing.T) {
	k := s.kit(t)
	arrived := func(Request) bool {
		k.timer.fire()
		return true
	}
	k.Script("m", Reply{Text: "x", Before: make(chan struct{}), When: arrived})
	o := Collect(t, k.client.Stream(t.Context(), k.ask()))
	require.Equal(t, provider.Timeout, o.Err.Class)
	require.Contains(t, o.Err.Message, "1m0s")
	<-k.Requests()[0].Ended
}

func (s suite) retryAfter(t *testing.T) {
	k := s.kit(t)
	k.Script("m", Reply{Fault: RateLimited, RetryAfter: "1.5"}, Reply{Fault: RateLimited, RetryAfter: now.Add(90 * time.Second).Format(httpDate)})
	o := Collect(t, k.client.Stream(t.Context(), k.ask()))
	require.Equal(t, 1500*time.Millisecond, o.Err.RetryAfter)
	o = Collect(t, k.client.Stream(t.Context(), k.ask()))
	require.Equal(t, 90*time.Second, o.Err.RetryAfter)
}

const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

func (s suite) keys(t *testing.T) {
	const key = "sk-very-secret-0123456789"
	k := s.kit(t)
	k.Key = key
	k.Script("m", Reply{Text: "in"})
	req := k.ask()
	req.Key = key + "\n"
	o := Collect(t, k.client.Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
	require.NotContains(t, fmt.Sprintf("%+v", k.Requests()), key)

	req.Key = "sk-another-one"
	req.Model.Headers = map[string]string{"X-Auth": "also-secret"}
	k.Script("m", Reply{Text: "never"})
	o = Collect(t, k.client.Stream(t.Context(), req))
	require.Equal(t, provider.Auth, o.Err.Class)

	k.Key = "" // from here on the service echoes secrets, which it should not
	k.Script("echo", Reply{Text: "x"})
	req.Model.ID = req.Key + " also-secret"
	o = Collect(t, k.client.Stream(t.Context(), req))
	require.Equal(t, provider.InvalidRequest, o.Err.Class)
	require.NotContains(t, o.Err.Error()+o.Message.ErrorMessage, req.Key)
	require.NotContains(t, o.Err.Error(), "also-secret")
}

func (s suite) noServer(t *testing.T) {
	k := s.kit(t)
	req := k.ask()
	req.Model.BaseURL = strings.Replace(k.URL(s.api), "http://", "http://user:pass@", 1) + "?key=secret"
	k.http.Close()
	o := Collect(t, k.client.Stream(t.Context(), req))
	require.Equal(t, provider.Network, o.Err.Class)
	require.NotContains(t, o.Err.Message, "secret")
	require.NotContains(t, o.Err.Message, "pass")

	req.Model.BaseURL = "no URL"
	o = Collect(t, k.client.Stream(t.Context(), req))
	require.NotNil(t, o.Err)
}

func (s suite) redirects(t *testing.T) {
	other := s.kit(t)
	other.Script("m", Reply{Text: "here"})
	k := s.kit(t)
	req := k.ask()
	req.Model.BaseURL = k.http.URL + "/redirect/" + strings.TrimPrefix(other.http.URL, "http://")
	o := Collect(t, k.client.Stream(t.Context(), req))
	require.Equal(t, provider.Protocol, o.Err.Class)
	require.Contains(t, o.Err.Message, other.http.URL)
	require.Empty(t, other.Requests(), "a key went to another host")
}

func (s suite) cancelled(t *testing.T) {
	k := s.kit(t)
	k.Script("m", Reply{Text: "0123456789abcdef", Chunk: 4, Hold: make(chan struct{})})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := CollectWith(t, k.client.Stream(ctx, k.ask()), func(e provider.Event) {
		if e.Delta == "4567" {
			cancel()
		}
	})
	require.Equal(t, provider.Aborted, o.Err.Class)
	require.Equal(t, "01234567", o.Message.PlainText())
	<-k.Requests()[0].Ended
}

func (s suite) cancelledBefore(t *testing.T) {
	k := s.kit(t)
	k.Script("m", Reply{Text: "x", Before: make(chan struct{})})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := Collect(t, k.client.Stream(ctx, k.ask()))
	require.Equal(t, provider.Aborted, o.Err.Class)
	require.Zero(t, k.wire.requests.Load())
}

func (s suite) leaves(t *testing.T) {
	k := s.kit(t)
	k.Script("m", Reply{Text: "0123456789abcdef", Hold: make(chan struct{})})
	for e := range k.client.Stream(t.Context(), k.ask()) {
		if e.Kind == provider.TextDelta {
			break
		}
	}
	<-k.Requests()[0].Ended
}

func (s suite) large(t *testing.T) {
	k := s.kit(t)
	text := strings.Repeat("0123456789abcdef", 3<<16)
	k.Script("m", Reply{Text: text, Chunk: len(text)})
	o := Collect(t, k.client.Stream(t.Context(), k.ask()))
	require.Nil(t, o.Err)
	if text != o.Message.PlainText() { // require would print all of it
		t.Fatal("the text is not what was sent")
	}
}

// leaks ends requests in every way and looks for goroutines that are still running.
func (s suite) leaks(t *testing.T) {
	k := s.kit(t)
	k.Script("m",
		Reply{Text: "0123456789"}, Reply{Text: "0123456789", Hold: make(chan struct{})}, Reply{Text: "0123456789", Fault: Cut},
		Reply{Fault: HTML}, Reply{Text: "0123456789", Hold: make(chan struct{})})
	end := leaktest.Begin(t)
	for range 2 { // complete, then left
		for e := range k.client.Stream(t.Context(), k.ask()) {
			if e.Kind == provider.TextDelta {
				break
			}
		}
	}
	for range 2 {
		Collect(t, k.client.Stream(t.Context(), k.ask()))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	CollectWith(t, k.client.Stream(ctx, k.ask()), func(e provider.Event) {
		if e.Kind == provider.TextDelta {
			cancel()
		}
	})
	for _, r := range k.Requests() {
		<-r.Ended
	}
	k.wire.next.CloseIdleConnections()
	k.http.CloseClientConnections()
	end()
}
