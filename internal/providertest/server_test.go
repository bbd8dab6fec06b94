package providertest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// post sends a body unchanged.
func post(t *testing.T, s *providertest.Server, api provider.API, body string) (int, string) {
	t.Helper()
	path := map[provider.API]string{
		provider.AnthropicMessages: "/v1/messages", provider.OpenAICompletions: "/chat/completions", provider.OpenAIResponses: "/responses",
	}[api]
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL(api)+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(answer)
}

// Requests that the real services refuse.
// Proves: F-07 (fake services reject what real ones do)
func TestRefusals(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	s.Script("m", providertest.Reply{Text: "ok"})
	const (
		a = provider.AnthropicMessages
		c = provider.OpenAICompletions
		r = provider.OpenAIResponses
	)
	anthropicBody := func(messages string) string {
		return `{"model":"m","stream":true,"max_tokens":9000,"messages":` + messages + `}`
	}
	chatBody := func(messages string) string { return `{"model":"m","stream":true,"messages":` + messages + `}` }
	responsesBody := func(input string) string { return `{"model":"m","stream":true,"input":` + input + `}` }
	const hello = `[{"role":"user","content":"hi"}]`
	for _, x := range []struct {
		api        provider.API
		body, want string // "" is accepted
	}{
		{a, anthropicBody(hello), ""},
		{a, `{"model":"m","stream":true,"messages":` + hello + `}`, "max_tokens"},
		{a, `{"model":"m","stream":true,"max_tokens":5,"novelty":1,"messages":` + hello + `}`, "novelty"},
		{a, `{"model":"m","stream":true,"max_tokens":5,"thinking":{"type":"enabled","budget_tokens":5},"messages":` + hello + `}`, "budget_tokens"},
		{a, `{"model":"m","stream":true,"max_tokens":1024,"thinking":{"type":"enabled","budget_tokens":1024},"messages":` + hello + `}`, "max_tokens"},
		{a, anthropicBody(`[]`), "at least one message"},
		{a, anthropicBody(`[{"role":"assistant","content":"hi"}]`), "first message"},
		{a, anthropicBody(`[{"role":"user","content":""}]`), "non-empty"},
		{a, anthropicBody(`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]}]`), "tool_use"},
		{a, anthropicBody(`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]},{"role":"user","content":"no"}]`), "tool_result"},
		{a, anthropicBody(`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x"}]}]`), "unexpected"},
		{a, anthropicBody(`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"x|y","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"x|y"}]}]`), "pattern"},
		{a, anthropicBody(`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"y"}]}]`), "signature"},
		{a, `{"model":"other","stream":true,"max_tokens":5,"messages":` + hello + `}`, "not scripted"},
		{a, `{`, "understood"},

		{c, chatBody(hello), ""},
		{c, `{"model":"m","stream":true,"tools":[],"messages":` + hello + `}`, "too short"},
		{c, `{"model":"m","stream":true,"max_tokens":1,"max_completion_tokens":1,"messages":` + hello + `}`, "at the same time"},
		{c, chatBody(`[{"role":"tool","tool_call_id":"x","content":"y"}]`), "preceding"},
		{c, chatBody(`[{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"n","arguments":"{}"}}]},{"role":"user","content":"hi"}]`), "must be followed"},
		{c, chatBody(`[{"role":"assistant","content":null}]`), "got null"},
		{c, chatBody(`[{"role":"assistant","tool_calls":[{"id":"` + strings.Repeat("x", 41) + `","type":"function","function":{"name":"n","arguments":"{}"}}]}]`), "too long"},

		{r, responsesBody(`[{"type":"message","role":"user","content":"hi"}]`), ""},
		{r, responsesBody(`[{"type":"function_call_output","call_id":"x","output":"y"}]`), "No tool call found"},
		{r, responsesBody(`[{"type":"function_call","call_id":"x","name":"n","arguments":"{}"}]`), "No tool output found"},
		{r, responsesBody(`[{"type":"function_call","id":"xx","call_id":"x","name":"n","arguments":"{}"},{"type":"function_call_output","call_id":"x","output":"y"}]`), "begins with 'fc'"},
		{r, responsesBody(`[{"type":"reasoning","id":"rs_1","encrypted_content":"x"}]`), "required following item"},
		{r, responsesBody(`[{"type":"reasoning","id":"rs_1"},{"type":"message","role":"assistant","content":"x"}]`), "not persisted"},
		{r, responsesBody(`[{"type":"reasoning","id":"rs_1","encrypted_content":"x"},{"type":"message","role":"assistant","content":"x"}]`), "could not be verified"},
		{r, responsesBody(`[{"type":"message","role":"assistant","id":"msg_r0001_0","content":"x"}]`), "required 'reasoning' item"},
		{r, responsesBody(`[{"role":"user","content":"hi"}]`), ""},
		{r, responsesBody(`[{"type":"novelty"}]`), "Invalid value"},
	} {
		status, answer := post(t, s, x.api, x.body)
		if x.want == "" {
			require.Equal(t, 200, status, answer)
			continue
		}
		require.GreaterOrEqual(t, status, 400, x.body)
		require.Contains(t, answer, x.want, x.body)
	}
}

func TestScriptsAreMatched(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	title := func(r providertest.Request) bool { return strings.HasPrefix(r.LastText(), "Title") }
	s.Script("m", providertest.Reply{Text: "a title", When: title}, providertest.Reply{Text: "first"}, providertest.Reply{Text: "second"})
	ask := func(text string) string {
		req := provider.Request{
			Model:    s.Model(provider.OpenAICompletions, "m"),
			Messages: []provider.Message{{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}}},
		}
		return providertest.Collect(t, openai.NewCompletions(guard.Options{}).Stream(t.Context(), req)).Text()
	}
	require.Equal(t, "first", ask("hello"))
	require.Equal(t, "a title", ask("Title?"))
	require.Equal(t, "second", ask("hello"))
	require.Equal(t, "second", ask("hello"), "the last one repeats")
	require.Len(t, s.Requests(), 4)
}

func TestKeysAreNotKept(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	s.Key = "the-right-key"
	s.Script("m", providertest.Reply{Text: "ok"})
	req := provider.Request{Model: s.Model(provider.AnthropicMessages, "m"), Key: "the-right-key", Messages: []provider.Message{
		{Role: provider.RoleUser, Content: []provider.Block{provider.Text("hi")}},
	}}
	o := providertest.Collect(t, anthropic.New(guard.Options{}).Stream(t.Context(), req))
	require.Nil(t, o.Err)
	require.Equal(t, "(hidden)", s.Requests()[0].Header.Get("X-Api-Key"))
	req.Key = "the-wrong-key"
	o = providertest.Collect(t, anthropic.New(guard.Options{}).Stream(t.Context(), req))
	require.Equal(t, provider.Auth, o.Err.Class)
}

func TestDetection(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	s.Script("llama", providertest.Reply{Text: "ok"})
	for path, want := range map[string]string{"/v1/models": `"id":"llama"`, "/api/tags": `"name":"llama"`, "/api/version": `"version"`} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL("")+path, nil)
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Contains(t, string(body), want)
		require.True(t, json.Valid(body))
	}
}
