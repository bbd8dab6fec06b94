package anthropic_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/anthropic"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// fixed answers every request with the same events.
type fixed string

func (f fixed) RoundTrip(r *http.Request) (*http.Response, error) {
	h := http.Header{"Content-Type": {"text/event-stream"}}
	return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(strings.NewReader(string(f))), Request: r}, nil
}

// read gives events, one per line, to the client.
func read(t testing.TB, lines ...string) providertest.Outcome {
	t.Helper()
	body := "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n"
	m := provider.Model{ID: "m", Provider: "p", API: provider.AnthropicMessages}
	c := anthropic.New(guard.Options{Transport: fixed(body)})
	return providertest.Collect(t, c.Stream(t.Context(), provider.Request{Model: m}))
}

const stop = `{"type":"message_stop"}`

func TestUsageIsNotLost(t *testing.T) {
	t.Parallel()
	o := read(t, `{"type":"message_start","message":{"id":"1","usage":{"input_tokens":7,"cache_read_input_tokens":5,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"output_tokens":9.0}}`, stop)
	require.Nil(t, o.Err)
	require.Equal(t, provider.Usage{Input: 7, Output: 9, CacheRead: 5, TotalTokens: 21}, *o.Message.Usage)
}

func TestUnknownEventsAreIgnored(t *testing.T) {
	t.Parallel()
	o := read(t,
		`{"type":"novelty","x":1}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"1","name":"web"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"whole"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{}}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"1","name":"read","input":{"path":"x"}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, stop)
	require.Nil(t, o.Err)
	require.Len(t, o.Message.Content, 2)
	require.Equal(t, "whole", o.Message.PlainText())
	require.JSONEq(t, `{"path":"x"}`, string(o.Message.ToolCalls()[0].Arguments))
}

func TestReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"end_turn": provider.StopEnd, "stop_sequence": provider.StopEnd, "pause_turn": provider.StopEnd,
		"max_tokens": provider.StopLength, "model_context_window_exceeded": provider.StopLength,
	} {
		o := read(t, `{"type":"message_delta","delta":{"stop_reason":"`+reason+`"}}`, stop)
		require.Nil(t, o.Err)
		require.Equal(t, want, o.Message.StopReason)
	}
	o := read(t, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"explanation":"no weapons"}}}`, stop)
	require.Equal(t, provider.Refused, o.Err.Class)
	require.Contains(t, o.Err.Message, "no weapons")
	o = read(t, `{"type":"message_delta","delta":{"stop_reason":"mood"}}`, stop)
	require.Nil(t, o.Err)
	require.Equal(t, provider.StopEnd, o.Message.StopReason)
	require.Contains(t, o.Note, `"mood"`)
	require.Equal(t, provider.Truncated, read(t, stop).Err.Class, "an end without a reason")
}

// FuzzDecoder checks that the contract holds for every response of a service.
func FuzzDecoder(f *testing.F) {
	f.Add(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"1","name":"read"}}`, stop)
	f.Add(`{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}`, `{"type":"error","error":"x"}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		read(t, first, second)
	})
}
