package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

var responses = provider.Model{ID: "m", Provider: "p", API: provider.OpenAIResponses, BaseURL: "http://responses.example/v1"}

func TestResponsesRequest(t *testing.T) {
	t.Parallel()
	image := provider.Block{Type: provider.TypeImage, Data: "AAAA", MimeType: "image/png"}
	_, m := send(t, provider.OpenAIResponses, func(req *provider.Request) {
		req.System, req.SessionID, req.Thinking = "sys", "session-1", provider.Low
		req.Tools = []provider.Tool{{Name: "read", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}}
		req.Messages = []provider.Message{
			{Role: provider.RoleUser, Content: []provider.Block{provider.Text("go"), image}},
			{Role: provider.RoleAssistant, Content: []provider.Block{
				provider.Text("Reading."),
				{Type: provider.TypeToolCall, ID: "a|fc_of_another_model", Name: "read", Arguments: json.RawMessage(`{"p":1}`)},
				{Type: provider.TypeToolCall, ID: "b", Name: "read"},
			}},
			{Role: provider.RoleToolResult, ToolCallID: "a|fc_of_another_model", Content: []provider.Block{provider.Text("data")}},
			{Role: provider.RoleToolResult, ToolCallID: "b", Content: []provider.Block{image}},
		}
	})
	require.JSONEq(t, `[
		{"type":"message","role":"user","content":[{"type":"input_text","text":"go"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AAAA"}]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Reading.","annotations":[]}]},
		{"type":"function_call","call_id":"a","name":"read","arguments":"{\"p\":1}"},
		{"type":"function_call","call_id":"b","name":"read","arguments":"{}"},
		{"type":"function_call_output","call_id":"a","output":"data"},
		{"type":"function_call_output","call_id":"b","output":[{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AAAA"}]}
	]`, string(m["input"]))
	for member, want := range map[string]string{
		"store": `false`, "include": `["reasoning.encrypted_content"]`, "prompt_cache_key": `"session-1"`, "instructions": `"sys"`,
		"reasoning": `{"effort":"low","summary":"auto"}`, "max_output_tokens": `32000`,
		"tools": `[{"type":"function","name":"read","description":"d","parameters":{"type":"object"},"strict":false}]`,
	} {
		require.JSONEq(t, want, string(m[member]), member)
	}
	_, m = send(t, provider.OpenAIResponses, func(req *provider.Request) { req.Thinking, req.MaxTokens = provider.Off, 3 })
	require.JSONEq(t, `{"effort":"none"}`, string(m["reasoning"]))
	require.Equal(t, "16", string(m["max_output_tokens"]), "less is refused")
	require.NotContains(t, m, "tools")
	_, m = send(t, provider.OpenAIResponses, func(req *provider.Request) {
		req.Model.Reasoning = false
		req.Model.Compat = json.RawMessage(`{"extraBody":{"service_tier":"flex"}}`)
	})
	require.NotContains(t, m, "reasoning")
	require.NotContains(t, m, "include")
	require.Equal(t, `"flex"`, string(m["service_tier"]))
}

// Items carry the ids by which the service finds the reasoning before them, but only together with
// that reasoning.
func TestItemsKeepTheirThinking(t *testing.T) {
	t.Parallel()
	text := provider.Text("x")
	text.TextSignature = `{"v":1,"id":"msg_1","phase":"commentary"}`
	answer := func(req *provider.Request, blocks ...provider.Block) {
		req.Messages = []provider.Message{userMessage("go"), {
			Role: provider.RoleAssistant, API: req.Model.API, Provider: req.Model.Provider, Model: req.Model.ID,
			Content: append(blocks, text, provider.Block{Type: provider.TypeToolCall, ID: "c|fc_1", Name: "read"}),
		}}
	}
	bare := provider.Block{Type: provider.TypeThinking, Redacted: true, ThinkingSignature: `{"type":"reasoning","id":"rs_1","summary":[]}`}
	_, m := send(t, provider.OpenAIResponses, func(req *provider.Request) { answer(req, bare) })
	require.NotContains(t, string(m["input"]), "rs_1", "the service has not stored it")
	_, m = send(t, provider.OpenAIResponses, func(req *provider.Request) { answer(req) })
	require.NotContains(t, string(m["input"]), "msg_1")
	require.NotContains(t, string(m["input"]), "fc_1")
	require.Contains(t, string(m["input"]), `"phase":"commentary"`)
}

func TestOddResponses(t *testing.T) {
	t.Parallel()
	const done = `{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":10,"output_tokens":3,"input_tokens_details":{"cached_tokens":4}}}}`
	// Items that are not announced, ids that change, no places, everything at the end.
	o := read(t, responses,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"text":"a"},{"text":"b"}]}}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"msg_1"}}`,
		`{"type":"response.output_text.delta","output_index":1,"item_id":"msg_other","delta":"te"}`,
		`{"type":"response.output_text.delta","output_index":1,"item_id":"msg_another","delta":"xt"}`,
		`{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","content":[{"text":"text"}]}}`,
		`{"type":"response.output_item.added","item":{"type":"function_call","id":"fc_1","call_id":"c","name":"read"}}`,
		`{"type":"response.function_call_arguments.done","item_id":"fc_1","arguments":"{\"n\":1}"}`,
		`{"type":"response.output_item.done","item":{"type":"function_call","id":"fc_1","call_id":"c","name":"read","arguments":"{\"n\":1}"}}`,
		`{"type":"response.output_item.added","output_index":3,"item":{"type":"web_search_call","id":"ws_1"}}`,
		`{"type":"response.web_search_call.searching","output_index":3,"item_id":"ws_1"}`,
		`{"type":"response.output_item.done","output_index":3,"item":{"type":"web_search_call","id":"ws_1"}}`, done)
	require.Nil(t, o.Err, "%v", o.Err)
	require.Len(t, o.Message.Content, 3)
	require.Equal(t, "a\n\nb", o.Message.Content[0].Thinking)
	require.False(t, o.Message.Content[0].Redacted)
	require.Equal(t, "text", o.Message.PlainText())
	require.JSONEq(t, `{"v":1,"id":"msg_1"}`, o.Message.Content[1].TextSignature)
	require.Equal(t, "c|fc_1", o.Message.ToolCalls()[0].ID)
	require.JSONEq(t, `{"n":1}`, string(o.Message.ToolCalls()[0].Arguments))
	require.Equal(t, provider.Usage{Input: 6, Output: 3, CacheRead: 4, TotalTokens: 13}, *o.Message.Usage)

	// Thinking in parts, and a refusal.
	o = read(t, responses,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1"}}`,
		`{"type":"response.reasoning_summary_part.added","output_index":0}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"a"}`,
		`{"type":"response.reasoning_summary_part.added","output_index":0}`,
		`{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"b"}`,
		`{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"msg_1"}}`,
		`{"type":"response.refusal.delta","output_index":1,"delta":"no"}`, done)
	require.Equal(t, "a\n\nb", o.Message.Content[0].Thinking)
	require.Equal(t, "no", o.Message.PlainText())

	o = read(t, responses, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"mood"}}}`)
	require.Nil(t, o.Err)
	require.Contains(t, o.Note, `"mood"`)

	for last, want := range map[string]provider.Class{
		`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`:                          provider.Refused,
		`{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input is too long"}}}`: provider.ContextOverflow,
		`{"type":"response.failed","response":{"error":null}}`:                                                                  provider.Server,
		`{"type":"error","error":{"type":"insufficient_quota","message":"x"}}`:                                                  provider.Quota,
		`{"type":"error","code":"server_error","message":"x"}`:                                                                  provider.Server,
		`{"type":"response.output_item.added","item":{"type":"function_call"}}`:                                                 provider.Protocol,
		`[DONE]`: provider.Truncated,
	} {
		o := read(t, responses, last)
		require.NotNil(t, o.Err, last)
		require.Equal(t, want, o.Err.Class, last)
	}
}

// FuzzResponses checks that the contract holds for every response of a service.
func FuzzResponses(f *testing.F) {
	f.Add(`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}`, `{"type":"response.output_text.delta","output_index":0,"delta":"x"}`)
	f.Add(`{"type":"response.output_item.done","item":{"type":"function_call","name":"x","arguments":"{"}}`, `{"type":"response.completed"}`)
	f.Fuzz(func(t *testing.T, first, second string) { read(t, responses, first, second, first) })
}
