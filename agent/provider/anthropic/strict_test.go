package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// ownTools are the tools of the program.
func ownTools() (tools []provider.Tool) {
	for _, t := range tool.All(tool.Options{}) {
		tools = append(tools, t.Tool)
	}
	return tools
}

// The service enforces at most 20 tools with 24 optional parameters in all, and the program's tools
// stay below.
func TestOwnToolsAreEnforcedWhereTheCatalogueSaysSo(t *testing.T) {
	t.Parallel()
	m, ok := catalog.Embedded().Models, false
	for _, one := range m {
		if one.Provider != "anthropic" || one.ID != "claude-sonnet-4-5" {
			continue
		}
		ok = true
		r := send(t, func(req *provider.Request) { req.Tools, req.Model.Compat = ownTools(), one.Compat })
		var tools []struct {
			Strict bool
			Schema struct {
				Properties map[string]json.RawMessage
				Required   []string
			} `json:"input_schema"`
		}
		require.NoError(t, json.Unmarshal(members(t, r)["tools"], &tools))
		optional := 0
		for _, one := range tools {
			require.True(t, one.Strict)
			optional += len(one.Schema.Properties) - len(one.Schema.Required)
		}
		require.LessOrEqual(t, optional, 23, "one more is in a list")
		require.LessOrEqual(t, len(tools), 20)
	}
	require.True(t, ok)
	r := send(t, func(req *provider.Request) { req.Tools = ownTools() })
	require.NotContains(t, string(r.Body), `"strict"`, "a service of which nothing is known")
}

func TestAServiceThatRefusesStrictTools(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	s.Script("m", providertest.Reply{Text: "ok"})
	s.Limit("m", providertest.Limits{NoStrict: true})
	client := anthropic.New(guard.Options{})
	req := provider.Request{Model: s.Model(provider.AnthropicMessages, "m"), Messages: []provider.Message{userMessage("Hello")}, Tools: ownTools()}
	req.Model.Compat = json.RawMessage(`{"supportsStrictTools":true}`)
	for range 2 {
		o := providertest.Collect(t, client.Stream(t.Context(), req))
		require.Nil(t, o.Err, "%v", o.Err)
	}
	require.Len(t, s.Requests(), 3)
	require.Contains(t, string(s.Requests()[0].Body), `"strict":true`)
	require.NotContains(t, string(s.Requests()[2].Body), `"strict"`)
}

func TestLongCacheRetention(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		compat string
		want   bool
	}{
		"another service":             {"", false},
		"one that supports it":        {`{"supportsLongCacheRetention":true}`, true},
		"one that does not":           {`{"supportsLongCacheRetention":false}`, false},
		"one with an unreadable word": {`{"supportsLongCacheRetention":"yes"}`, false},
	} {
		r := send(t, func(req *provider.Request) {
			req.System, req.LongCache, req.Tools, req.Model.Compat = "Be brief.", true, ownTools(), json.RawMessage(c.compat)
		})
		marks, long := strings.Count(string(r.Body), `"cache_control"`), strings.Count(string(r.Body), `"cache_control":{"type":"ephemeral","ttl":"1h"}`)
		require.Equal(t, 3, marks, name)
		if c.want {
			require.Equal(t, marks, long, name)
		} else {
			require.Zero(t, long, name)
		}
	}
}

// An hour in the cache has a price of its own, and files have it as pi writes it.
func TestTokensThatAreCachedForAnHour(t *testing.T) {
	t.Parallel()
	usage := `{"input_tokens":10,"output_tokens":1,"cache_read_input_tokens":0,"cache_creation_input_tokens":1000,"cache_creation":{"ephemeral_5m_input_tokens":400,"ephemeral_1h_input_tokens":600}}`
	o := read(t, `{"type":"message_start","message":{"id":"a","usage":`+usage+`}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`, stop)
	require.Nil(t, o.Err)
	require.Equal(t, 600, o.Message.Usage.CacheWriteLong)
	m := provider.Model{Cost: &provider.Cost{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}}
	cost, _ := m.Price(*o.Message.Usage)
	require.InDelta(t, (400*3.75+600*6)/1e6, cost.CacheWrite, 1e-12)
	require.Contains(t, string(o.Message.Encode()), `"cacheWrite":1000,"cacheWrite1h":600,`)
}

// Arguments that are streamed as they are sampled can end anywhere: at the answer's maximum length, in
// the middle of a character's escape. The call is kept, with the reason why it cannot be run.
func TestArgumentsThatEndEarly(t *testing.T) {
	t.Parallel()
	for _, args := range []string{`{"path":"a`, `{"path":"a\u00`, `{"path":"a","edits":[{"oldText"`, `{"path"`, `{`} {
		s := providertest.New(t)
		s.Script("m", providertest.Reply{ToolCalls: []providertest.Call{{Name: "read", Args: json.RawMessage(args)}}, Stop: provider.StopLength})
		req := provider.Request{Model: s.Model(provider.AnthropicMessages, "m"), Messages: []provider.Message{userMessage("Hello")}, Tools: ownTools()}
		req.Model.Compat = json.RawMessage(`{"supportsEagerToolInputStreaming":true}`)
		o := providertest.Collect(t, anthropic.New(guard.Options{}).Stream(t.Context(), req))
		require.Nil(t, o.Err, "%v", o.Err)
		require.Equal(t, provider.StopLength, o.Message.StopReason)
		call := o.Message.ToolCalls()[0]
		require.JSONEq(t, `{}`, string(call.Arguments))
		require.Contains(t, call.ArgumentsError, "not a JSON object")
	}
}

// A service of which the catalogue says that it does not know the tools' member is asked by the older header.
func TestEagerStreamingByHeader(t *testing.T) {
	t.Parallel()
	compat := json.RawMessage(`{"supportsEagerToolInputStreaming":false}`)
	r := send(t, func(req *provider.Request) {
		req.Tools, req.Model.Compat, req.Thinking = ownTools(), compat, provider.Low
	})
	require.Equal(t, "interleaved-thinking-2025-05-14,fine-grained-tool-streaming-2025-05-14", r.Header.Get("Anthropic-Beta"))
	require.NotContains(t, string(r.Body), "eager_input_streaming")
	r = send(t, func(req *provider.Request) { req.Model.Compat = compat })
	require.Empty(t, r.Header.Get("Anthropic-Beta"), "there is nothing to stream")
	r = send(t, func(req *provider.Request) { req.Tools = ownTools() })
	require.Empty(t, r.Header.Get("Anthropic-Beta"))
}

// Writing to the cache costs more than reading without it.
func TestAQuestionOutsideOfAConversationIsNotCached(t *testing.T) {
	t.Parallel()
	r := send(t, func(req *provider.Request) { req.System, req.OneOff, req.LongCache = "Summarize.", true, true })
	require.NotContains(t, string(r.Body), "cache_control")
}
