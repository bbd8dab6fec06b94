package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

func client(api provider.API, o guard.Options) provider.Provider {
	switch api {
	case provider.OpenAIResponses:
		return openai.NewResponses(o)
	case provider.AzureResponses:
		return openai.NewAzure(o, func(string) string { return "" })
	default:
		return openai.NewCompletions(o)
	}
}

// send returns the request of the client, as the service reads it.
func send(t *testing.T, api provider.API, change func(*provider.Request)) (providertest.Request, map[string]json.RawMessage) {
	t.Helper()
	s := providertest.New(t)
	s.Script("m", providertest.Reply{Text: "ok"})
	req := provider.Request{Model: s.Model(api, "m"), Messages: []provider.Message{userMessage("Hello")}}
	change(&req)
	o := providertest.Collect(t, client(api, guard.Options{}).Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
	r := s.Requests()[0]
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(r.Body, &m))
	return r, m
}

func userMessage(text string) provider.Message {
	return provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}}
}

// fixed answers every request with the same events, and keeps the request.
type fixed struct {
	body string
	sent *http.Request
}

func (f *fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	f.sent = r
	h := http.Header{"Content-Type": {"text/event-stream"}}
	return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(f.body)), Request: r}, nil
}

// read gives events, one per line, to the client.
func read(t testing.TB, m provider.Model, lines ...string) providertest.Outcome {
	t.Helper()
	body := "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n"
	return providertest.Collect(t, client(m.API, guard.Options{Transport: &fixed{body: body}}).Stream(t.Context(), provider.Request{Model: m}))
}

var chat = provider.Model{ID: "m", Provider: "p", API: provider.OpenAICompletions, BaseURL: "http://chat.example/v1"}

// The variants of Chat Completions that services speak.
func TestQuirks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		quirks providertest.Quirks
		field  string
	}{
		"none":                           {providertest.Quirks{}, "reasoning_content"},
		"another field for thinking":     {providertest.Quirks{Reasoning: "reasoning"}, "reasoning"},
		"and another":                    {providertest.Quirks{Reasoning: "reasoning_text"}, "reasoning_text"},
		"no index on continuations":      {providertest.Quirks{NoIndex: true}, "reasoning_content"},
		"no [DONE]":                      {providertest.Quirks{NoDone: true}, "reasoning_content"},
		"an empty reason on every chunk": {providertest.Quirks{EmptyFinish: true}, "reasoning_content"},
		"usage in the choice":            {providertest.Quirks{UsageInChoice: true}, "reasoning_content"},
		"stop with calls":                {providertest.Quirks{SaysStop: true}, "reasoning_content"},
		"all of them": {
			providertest.Quirks{Reasoning: "reasoning", NoIndex: true, NoDone: true, EmptyFinish: true, UsageInChoice: true, SaysStop: true, Details: true},
			"reasoning",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := providertest.New(t)
			s.Script("m", providertest.Reply{
				Thinking: "a thought of some length", Text: "a text of some length", Quirks: c.quirks,
				ToolCalls: []providertest.Call{{Name: "read", Args: map[string]any{"path": "first"}}, {Name: "ls", Args: map[string]any{"path": "second"}}},
			}, providertest.Reply{Text: "next"})
			req := provider.Request{Model: s.Model(provider.OpenAICompletions, "m"), Messages: []provider.Message{userMessage("Hello")}}
			o := providertest.Collect(t, openai.NewCompletions(guard.Options{}).Stream(t.Context(), req))
			require.Nil(t, o.Err, "%v", o.Err)
			require.Equal(t, "a thought of some length", o.Message.Content[0].Thinking)
			require.Equal(t, c.field, o.Message.Content[0].ThinkingSignature)
			require.Equal(t, "a text of some length", o.Message.PlainText())
			calls := o.Message.ToolCalls()
			require.Len(t, calls, 2)
			require.JSONEq(t, `{"path":"first"}`, string(calls[0].Arguments))
			require.JSONEq(t, `{"path":"second"}`, string(calls[1].Arguments))
			require.Equal(t, provider.StopToolUse, o.Message.StopReason)
			require.Equal(t, 170, o.Message.Usage.TotalTokens)
			require.Equal(t, c.quirks.Details, calls[0].ThoughtSignature != "")

			req.Messages = append(req.Messages, o.Message)
			o = providertest.Collect(t, openai.NewCompletions(guard.Options{}).Stream(t.Context(), req))
			require.Nil(t, o.Err, "%v", o.Err)
			back := s.Requests()[1]
			if c.quirks.Details {
				require.Contains(t, string(back.Body), `"reasoning_details":[{`)
			} else {
				require.Contains(t, string(back.Body), `"`+c.field+`":"a thought of some length"`)
			}
		})
	}
}

func TestOddChunks(t *testing.T) {
	t.Parallel()
	const done = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	o := read(t, chat, `{"choices":[{"delta":{"content":"a","reasoning_content":"t","reasoning":"t"}}]}`, `{"choices":[]}`, `{}`,
		`{"choices":[{"delta":{"content":null}}],"usage":null}`, `{"choices":[{"delta":{"content":[{"type":"text"}]}}]}`, done)
	require.Nil(t, o.Err)
	require.Equal(t, "t", o.Message.Content[0].Thinking, "the same in two fields counts once")
	require.Equal(t, "a", o.Message.PlainText())

	// Every call has index 0 and arrives at once.
	o = read(t, chat, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":1}"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"read","arguments":"{\"n\":2}"}}]}}]}`, done)
	require.Nil(t, o.Err)
	require.Len(t, o.Message.ToolCalls(), 2)
	require.JSONEq(t, `{"n":2}`, string(o.Message.ToolCalls()[1].Arguments))

	// No ids, the name late, arguments as an object.
	o = read(t, chat, `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\""}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"read","arguments":":1}"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"read","arguments":{"n":2}}}]}}]}`, done, "[DONE]")
	require.Nil(t, o.Err, "%v", o.Err)
	calls := o.Message.ToolCalls()
	require.JSONEq(t, `{"n":1}`, string(calls[0].Arguments))
	require.JSONEq(t, `{"n":2}`, string(calls[1].Arguments))
	require.NotEmpty(t, calls[0].ID)
	require.NotEqual(t, calls[0].ID, calls[1].ID)

	// Two calls with one id.
	o = read(t, chat, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\":1"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"}"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"read","arguments":"{\"n\":2}"}}]}}]}`, done)
	require.Nil(t, o.Err)
	require.Len(t, o.Message.ToolCalls(), 2)
	require.JSONEq(t, `{"n":1}`, string(o.Message.ToolCalls()[0].Arguments))
	require.JSONEq(t, `{"n":2}`, string(o.Message.ToolCalls()[1].Arguments))
	require.Equal(t, "a", o.Message.ToolCalls()[0].ID)
	require.NotEqual(t, "a", o.Message.ToolCalls()[1].ID, "each result needs its call")

	// Two calls with one id, which every piece repeats, mixed.
	o = read(t, chat, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{\"n\""}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"read","arguments":"{\"n\""}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"arguments":":2}"}},{"index":0,"id":"a","function":{"arguments":":1}"}}]}}]}`, done)
	require.Nil(t, o.Err)
	require.Len(t, o.Message.ToolCalls(), 2)
	require.JSONEq(t, `{"n":1}`, string(o.Message.ToolCalls()[0].Arguments))
	require.JSONEq(t, `{"n":2}`, string(o.Message.ToolCalls()[1].Arguments))

	// Two calls with one id, whose names come late.
	o = read(t, chat, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a"},{"index":1,"id":"a"}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"name":"read","arguments":"{\"n\":2}"}},{"index":0,"function":{"name":"read","arguments":"{\"n\":1}"}}]}}]}`, done)
	require.Nil(t, o.Err)
	require.Len(t, o.Message.ToolCalls(), 2)
	require.JSONEq(t, `{"n":2}`, string(o.Message.ToolCalls()[0].Arguments))
	require.JSONEq(t, `{"n":1}`, string(o.Message.ToolCalls()[1].Arguments))

	o = read(t, chat, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}}]}`, done, "[DONE]")
	require.Equal(t, provider.Truncated, o.Err.Class, "a call of nothing")
	require.Equal(t, provider.Truncated, read(t, chat, "[DONE]").Err.Class)
	require.Equal(t, provider.Refused, read(t, chat, `{"choices":[{"finish_reason":"content_filter"}]}`, "[DONE]").Err.Class)
	require.Equal(t, provider.Server, read(t, chat, `{"choices":[{"finish_reason":"error"}]}`, "[DONE]").Err.Class)
	o = read(t, chat, `{"choices":[{"delta":{"content":"a"},"finish_reason":"mood"}]}`, "[DONE]")
	require.Nil(t, o.Err)
	require.Equal(t, provider.StopEnd, o.Message.StopReason)
	require.Contains(t, o.Note, `"mood"`)
	require.Equal(t, provider.StopLength, read(t, chat, `{"choices":[{"finish_reason":"length"}]}`, "[DONE]").Message.StopReason)

	unmarked := chat
	unmarked.Compat = json.RawMessage(`{"supportsFinishReason":false}`)
	o = read(t, unmarked, `{"choices":[{"delta":{"content":"a"}}]}`, "[DONE]")
	require.Nil(t, o.Err)
	require.Equal(t, provider.StopEnd, o.Message.StopReason)
}

func TestUsagePlaces(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]provider.Usage{
		`{"prompt_tokens":10,"completion_tokens":3}`:                                                                    {Input: 10, Output: 3, TotalTokens: 13},
		`{"prompt_tokens":10,"completion_tokens":3,"prompt_cache_hit_tokens":4}`:                                        {Input: 6, CacheRead: 4, Output: 3, TotalTokens: 13},
		`{"prompt_tokens":10,"completion_tokens":3,"cached_tokens":4}`:                                                  {Input: 6, CacheRead: 4, Output: 3, TotalTokens: 13},
		`{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":5}}`: {Input: 1, CacheRead: 4, CacheWrite: 5, Output: 3, TotalTokens: 13},
		`{"prompt_tokens":1,"completion_tokens":null,"prompt_tokens_details":{"cached_tokens":4}}`:                      {CacheRead: 4, TotalTokens: 4},
	} {
		o := read(t, chat, `{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":`+usage+`}`)
		require.Equal(t, want, *o.Message.Usage, usage)
	}
}

func TestCompletionsThinking(t *testing.T) {
	t.Parallel()
	word := "enabled-high"
	for name, c := range map[string]struct {
		compat string
		level  provider.Level
		want   map[string]string // members of the body; "" is absent
	}{
		"openai":                  {`{}`, provider.High, map[string]string{"reasoning_effort": `"high"`}},
		"openai, off":             {`{}`, provider.Off, map[string]string{"reasoning_effort": ""}},
		"not supported":           {`{"supportsReasoningEffort":false}`, provider.High, map[string]string{"reasoning_effort": ""}},
		"by a map":                {`{"reasoningEffortMap":{"high":"default"}}`, provider.High, map[string]string{"reasoning_effort": `"default"`}},
		"by the model":            {`{}`, provider.XHigh, map[string]string{"reasoning_effort": `"enabled-high"`}},
		"openrouter":              {`{"thinkingFormat":"openrouter"}`, provider.Low, map[string]string{"reasoning": `{"effort":"low"}`, "reasoning_effort": ""}},
		"openrouter, off":         {`{"thinkingFormat":"openrouter"}`, "", map[string]string{"reasoning": `{"effort":"none"}`}},
		"deepseek":                {`{"thinkingFormat":"deepseek"}`, provider.High, map[string]string{"thinking": `{"type":"enabled"}`, "reasoning_effort": `"high"`}},
		"deepseek, off":           {`{"thinkingFormat":"deepseek"}`, provider.Off, map[string]string{"thinking": `{"type":"disabled"}`}},
		"zai":                     {`{"thinkingFormat":"zai","supportsReasoningEffort":false}`, provider.High, map[string]string{"thinking": `{"type":"enabled"}`, "reasoning_effort": ""}},
		"qwen":                    {`{"thinkingFormat":"qwen"}`, provider.High, map[string]string{"enable_thinking": `true`}},
		"qwen, off":               {`{"thinkingFormat":"qwen"}`, provider.Off, map[string]string{"enable_thinking": `false`}},
		"qwen-chat-template":      {`{"thinkingFormat":"qwen-chat-template"}`, provider.High, map[string]string{"chat_template_kwargs": `{"enable_thinking":true,"preserve_thinking":true}`, "reasoning_effort": ""}},
		"together":                {`{"thinkingFormat":"together","supportsReasoningEffort":false}`, provider.High, map[string]string{"reasoning": `{"enabled":true}`}},
		"string-thinking":         {`{"thinkingFormat":"string-thinking"}`, provider.High, map[string]string{"thinking": `"high"`}},
		"string-thinking, off":    {`{"thinkingFormat":"string-thinking"}`, provider.Off, map[string]string{"thinking": `"none"`}},
		"ant-ling":                {`{"thinkingFormat":"ant-ling"}`, provider.XHigh, map[string]string{"reasoning": `{"effort":"enabled-high"}`}},
		"ant-ling without a word": {`{"thinkingFormat":"ant-ling"}`, provider.Low, map[string]string{"reasoning": ""}},
		"chat-template": {
			`{"thinkingFormat":"chat-template","chatTemplateKwargs":{"on":{"$var":"thinking.enabled"},"how":{"$var":"thinking.effort"},"n":{"$var":"thinking.budget"},"x":1}}`,
			provider.Low,
			map[string]string{"chat_template_kwargs": `{"how":"low","n":2048,"on":true,"x":1}`},
		},
		"chat-template, off": {
			`{"thinkingFormat":"chat-template","chatTemplateKwargs":{"on":{"$var":"thinking.enabled"},"how":{"$var":"thinking.effort","omitWhenOff":true},"n":{"$var":"thinking.budget"}}}`,
			provider.Off,
			map[string]string{"chat_template_kwargs": `{"on":false}`},
		},
		"baseten":        {`{"thinkingFormat":"baseten","chatTemplateArgs":{"on":{"$var":"thinking.enabled"}}}`, provider.High, map[string]string{"chat_template_args": `{"on":true}`, "reasoning_effort": `"high"`}},
		"a budget":       {`{"thinkingTokenBudgetField":"thinking_budget"}`, provider.Low, map[string]string{"thinking_budget": `2048`}},
		"vLLM's budget":  {`{"supportsThinkingTokenBudget":true}`, provider.Low, map[string]string{"thinking_token_budget": `2048`}},
		"no budget, off": {`{"supportsThinkingTokenBudget":true}`, provider.Off, map[string]string{"thinking_token_budget": ``}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, m := send(t, provider.OpenAICompletions, func(req *provider.Request) {
				req.Thinking, req.Model.Compat = c.level, json.RawMessage(c.compat)
				req.Model.ThinkingLevelMap = map[provider.Level]*string{provider.XHigh: &word}
			})
			for member, want := range c.want {
				require.Equal(t, want, string(m[member]), member)
			}
		})
	}
	_, m := send(t, provider.OpenAICompletions, func(req *provider.Request) { req.Model.Reasoning, req.Thinking = false, provider.High })
	require.NotContains(t, m, "reasoning_effort")
}

func TestCompletionsSwitches(t *testing.T) {
	t.Parallel()
	image := provider.Block{Type: provider.TypeImage, Data: "AAAA", MimeType: "image/png"}
	call := provider.Block{Type: provider.TypeToolCall, ID: "a", Name: "read"}
	thought := provider.Block{Type: provider.TypeThinking, Thinking: "hm", ThinkingSignature: "reasoning_content"}
	body := func(compat string) (string, map[string]json.RawMessage) {
		r, m := send(t, provider.OpenAICompletions, func(req *provider.Request) {
			req.Model.Compat = json.RawMessage(compat)
			req.System, req.SessionID = "sys", "session-1"
			req.Messages = []provider.Message{
				userMessage("go"),
				{Role: provider.RoleAssistant, API: req.Model.API, Provider: req.Model.Provider, Model: req.Model.ID, Content: []provider.Block{thought, call}},
				{Role: provider.RoleToolResult, ToolCallID: "a", ToolName: "read", Content: []provider.Block{image}},
				userMessage("and?"),
			}
			req.Tools = []provider.Tool{{Name: "read", Parameters: json.RawMessage(`{"type":"object"}`)}}
		})
		return string(r.Body), m
	}
	plain, m := body(`{}`)
	require.JSONEq(t, `[{"role":"system","content":"sys"},{"role":"user","content":"go"},
		{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"a","content":"(see attached image)"},
		{"role":"user","content":[{"type":"text","text":"Attached image(s) from tool result:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},
		{"role":"user","content":"and?"}]`, string(m["messages"]))
	require.JSONEq(t, `{"include_usage":true}`, string(m["stream_options"]))
	require.Equal(t, "32000", string(m["max_tokens"]), "a service on this machine")
	require.NotContains(t, m, "store")
	require.NotContains(t, plain, "session-1")

	for compat, want := range map[string]string{
		`{"requiresToolResultName":true}`:           `"name":"read","tool_call_id":"a"`,
		`{"requiresNonNullAssistantContent":true}`:  `{"role":"assistant","content":"",`,
		`{"requiresThinkingAsText":true}`:           `{"role":"assistant","content":"hm",`,
		`{"requiresAssistantAfterToolResult":true}`: `{"role":"assistant","content":"I have processed the tool results."},{"role":"user","content":[`,
		`{"supportsDeveloperRole":true}`:            `{"role":"developer","content":"sys"}`,
		`{"supportsStore":true}`:                    `"store":false`,
		`{"maxTokensField":"max_completion_tokens","extraBody":{"priority":3,"max_tokens":null}}`: `"priority":3`,
		`{"extraBody":{"stream_options":7}}`:                                                      `"stream_options":7`,
		`{"zaiToolStream":true}`:                                                                  `"tool_stream":true`,
		`{"openRouterRouting":{"only":["x"]}}`:                                                    `"provider":{"only":["x"]}`,
		`{"vercelGatewayRouting":{"only":["x"]}}`:                                                 `"providerOptions":{"gateway":{"only":["x"]}}`,
		`{"cacheControlFormat":"anthropic"}`:                                                      `{"role":"user","content":[{"type":"text","text":"and?","cache_control":{"type":"ephemeral"}}]}`,
	} {
		got, _ := body(compat)
		require.Contains(t, got, want, compat)
	}
	got, _ := body(`{"supportsUsageInStreaming":false}`)
	require.NotContains(t, got, "stream_options")
	_, m = send(t, provider.OpenAICompletions, func(*provider.Request) {})
	require.NotContains(t, m, "tools", "an empty list is refused by some")
	_, m = send(t, provider.OpenAICompletions, func(req *provider.Request) { req.Model.MaxTokens = 0 })
	require.NotContains(t, m, "max_tokens", "the model is unknown")
}

// Services are recognised without configuration.
func TestServices(t *testing.T) {
	t.Parallel()
	sent := func(m provider.Model) (*http.Request, string) {
		f := &fixed{body: "data: [DONE]\n\n"}
		m.API, m.Reasoning, m.MaxTokens = provider.OpenAICompletions, true, 100
		req := provider.Request{Model: m, System: "sys", SessionID: "s-1", Thinking: provider.High, Messages: []provider.Message{userMessage("x")}}
		providertest.Collect(t, openai.NewCompletions(guard.Options{Transport: f}).Stream(t.Context(), req))
		body, err := f.sent.GetBody()
		require.NoError(t, err)
		raw, err := io.ReadAll(body)
		require.NoError(t, err)
		return f.sent, string(raw)
	}
	r, body := sent(provider.Model{ID: "gpt", Provider: "openai"})
	require.Equal(t, "https://api.openai.com/v1/chat/completions", r.URL.String())
	for _, want := range []string{`"store":false`, `"role":"developer"`, `"max_completion_tokens":100`, `"prompt_cache_key":"s-1"`, `"reasoning_effort":"high"`} {
		require.Contains(t, body, want)
	}
	_, body = sent(provider.Model{ID: "x", Provider: "custom", BaseURL: "https://api.deepseek.com"})
	for _, want := range []string{`"role":"system"`, `"max_tokens":100`, `"thinking":{"type":"enabled"}`} {
		require.Contains(t, body, want)
	}
	require.NotContains(t, body, "store")
	r, body = sent(provider.Model{ID: "anthropic/claude", Provider: "openrouter", BaseURL: "https://openrouter.ai/api/v1"})
	require.Equal(t, "s-1", r.Header.Get("X-Session-Id"))
	require.Contains(t, body, `"cache_control"`)
	require.Contains(t, body, `"reasoning":{"effort":"high"}`)
	r, _ = sent(provider.Model{ID: "x", Provider: "p", BaseURL: "https://p.example/v1", Compat: json.RawMessage(`{"sendSessionAffinityHeaders":true}`)})
	require.Equal(t, "s-1", r.Header.Get("X-Session-Affinity"))
	_, body = sent(provider.Model{ID: "x", Provider: "xai", BaseURL: "https://api.x.ai/v1"})
	require.NotContains(t, body, "reasoning_effort")
}

// FuzzCompletions checks that the contract holds for every response of a service.
func FuzzCompletions(f *testing.F) {
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}}]}`, `[DONE]`)
	f.Add(`{"choices":[{"delta":{"content":"x","reasoning":"y"}}]}`, `{"choices":[{"finish_reason":"stop"}]}`)
	f.Fuzz(func(t *testing.T, first, second string) { read(t, chat, first, second, first) })
}
