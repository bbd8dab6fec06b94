package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// send returns the request of the client, as the service reads it.
func send(t *testing.T, change func(*provider.Request)) providertest.Request {
	t.Helper()
	s := providertest.New(t)
	s.Script("m", providertest.Reply{Text: "ok"})
	req := provider.Request{
		Model:    s.Model(provider.AnthropicMessages, "m"),
		Messages: []provider.Message{userMessage("Hello")},
	}
	change(&req)
	o := providertest.Collect(t, anthropic.New(guard.Options{}).Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
	return s.Requests()[0]
}

func userMessage(text string) provider.Message {
	return provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}}
}

func members(t *testing.T, r providertest.Request) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(r.Body, &m))
	return m
}

func TestThinking(t *testing.T) {
	t.Parallel()
	adaptive := json.RawMessage(`{"forceAdaptiveThinking":true}`)
	top := "max"
	for name, c := range map[string]struct {
		level            provider.Level
		change           func(*provider.Request)
		thinking, config string
		maxTokens        int
	}{
		"off":                         {provider.Off, nil, `{"type":"disabled"}`, "", 32000},
		"not said":                    {"", nil, `{"type":"disabled"}`, "", 32000},
		"minimal":                     {provider.Minimal, nil, `{"type":"enabled","budget_tokens":1024}`, "", 32000},
		"high":                        {provider.High, nil, `{"type":"enabled","budget_tokens":16384}`, "", 32000},
		"an answer of its own length": {provider.Medium, func(r *provider.Request) { r.MaxTokens = 500 }, `{"type":"enabled","budget_tokens":7668}`, "", 8692},
		"a small model":               {provider.High, func(r *provider.Request) { r.Model.MaxTokens = 4096 }, `{"type":"enabled","budget_tokens":3072}`, "", 4096},
		"a tiny model":                {provider.High, func(r *provider.Request) { r.Model.MaxTokens = 2000 }, ``, "", 2000},
		"no thinking":                 {provider.High, func(r *provider.Request) { r.Model.Reasoning = false }, ``, "", 32000},
		"adaptive":                    {provider.Medium, func(r *provider.Request) { r.Model.Compat = adaptive }, `{"type":"adaptive","display":"summarized"}`, `{"effort":"medium"}`, 32000},
		"adaptive, minimal":           {provider.Minimal, func(r *provider.Request) { r.Model.Compat = adaptive }, `{"type":"adaptive","display":"summarized"}`, `{"effort":"low"}`, 32000},
		"adaptive, by a map": {provider.XHigh, func(r *provider.Request) {
			r.Model.Compat, r.Model.ThinkingLevelMap = adaptive, map[provider.Level]*string{provider.XHigh: &top}
		}, `{"type":"adaptive","display":"summarized"}`, `{"effort":"max"}`, 32000},
		"cannot be switched off": {provider.Off, func(r *provider.Request) {
			r.Model.ThinkingLevelMap = map[provider.Level]*string{provider.Off: nil}
		}, ``, "", 32000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := send(t, func(req *provider.Request) {
				req.Thinking = c.level
				if c.change != nil {
					c.change(req)
				}
			})
			m := members(t, r)
			require.Equal(t, c.thinking, string(m["thinking"]))
			require.Equal(t, c.config, string(m["output_config"]))
			require.Equal(t, c.maxTokens, r.MaxTokens)
			require.Equal(t, strings.Contains(c.thinking, "enabled"), r.Header.Get("Anthropic-Beta") != "")
		})
	}
}

// At most four places are marked, and the beginning of a request does not change when the
// conversation continues.
func TestCaching(t *testing.T) {
	t.Parallel()
	tools := []provider.Tool{
		{Name: "a", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "b", Parameters: json.RawMessage(`{"type":"object"}`)},
	}
	talk := []provider.Message{userMessage("one")}
	var before map[string]json.RawMessage
	for n := range 4 {
		r := send(t, func(req *provider.Request) { req.System, req.Tools, req.Messages = "Be brief.", tools, talk })
		m := members(t, r)
		require.Equal(t, min(2, n+1)+2, strings.Count(string(r.Body), `"cache_control":{"type":"ephemeral"}`))
		require.JSONEq(t, `[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]`, string(m["system"]))
		require.Contains(t, string(m["tools"]), `{"name":"b","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}`)
		if before != nil {
			require.Equal(t, string(before["tools"]), string(m["tools"]))
		}
		before = m
		talk = append(talk, provider.Message{Role: provider.RoleAssistant, Content: []provider.Block{provider.Text("ok")}}, userMessage("more"))
	}
	r := send(t, func(req *provider.Request) {
		req.Tools, req.Model.Compat = tools, json.RawMessage(`{"supportsCacheControlOnTools":false,"supportsEagerToolInputStreaming":true}`)
	})
	require.NotContains(t, string(members(t, r)["tools"]), "cache_control")
	require.Contains(t, string(members(t, r)["tools"]), `"eager_input_streaming":true`)
}

func TestMessages(t *testing.T) {
	t.Parallel()
	image := provider.Block{Type: provider.TypeImage, Data: "AAAA", MimeType: "image/png"}
	yes := true
	r := send(t, func(req *provider.Request) {
		req.Messages = []provider.Message{
			{Role: provider.RoleUser, Content: []provider.Block{provider.Text("see"), image}},
			{Role: provider.RoleAssistant, Content: []provider.Block{
				{Type: provider.TypeToolCall, ID: "a", Name: "read"}, {Type: provider.TypeToolCall, ID: "b|fc_1", Name: "read", Arguments: json.RawMessage(`{"x":"<&>"}`)},
			}},
			{Role: provider.RoleToolResult, ToolCallID: "a", Content: []provider.Block{image}, IsError: &yes},
			{Role: provider.RoleToolResult, ToolCallID: "b|fc_1", Content: []provider.Block{provider.Text("\xff <b>")}},
			userMessage("and?"),
		}
	})
	require.JSONEq(t, `[
		{"role":"user","content":[{"type":"text","text":"see"},
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"},"cache_control":{"type":"ephemeral"}}]},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"read","input":{}},{"type":"tool_use","id":"b_fc_1","name":"read","input":{"x":"<&>"}}]},
		{"role":"user","content":[
			{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}],"is_error":true},
			{"type":"tool_result","tool_use_id":"b_fc_1","content":[{"type":"text","text":"\ufffd <b>"}]},
			{"type":"text","text":"and?","cache_control":{"type":"ephemeral"}}]}
	]`, string(members(t, r)["messages"]))
	require.Contains(t, string(r.Body), "<b>", "the body is not escaped for HTML")
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "/", "/v1", "/v1/"} {
		send(t, func(req *provider.Request) { req.Model.BaseURL += suffix })
	}
}
