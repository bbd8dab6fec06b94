package gemini_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/gemini"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// events answers every request with these events.
type events []string

func (e events) RoundTrip(*http.Request) (*http.Response, error) {
	var b strings.Builder
	for _, data := range e {
		fmt.Fprintf(&b, "data: %s\n\n", data)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(b.String())),
	}, nil
}

func read(t *testing.T, e ...string) providertest.Outcome {
	t.Helper()
	client := gemini.New(guard.Options{Transport: events(e)})
	return providertest.Collect(t, client.Stream(t.Context(), provider.Request{
		Model:    provider.Model{ID: "gemini-3-pro", API: provider.GoogleGenerativeAI, Provider: "google"},
		Messages: []provider.Message{userMessage("hi")},
	}))
}

// parts is an event with parts of an answer.
func parts(all ...string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + strings.Join(all, ",") + `]},"index":0}],"responseId":"r"}`
}

const stop = `{"candidates":[{"content":{"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":7,"thoughtsTokenCount":5,"cachedContentTokenCount":30,"toolUsePromptTokenCount":2,"totalTokenCount":64}}`

// Signatures stay with the part that they came with, in the members where pi looks for them.
func TestSignatures(t *testing.T) {
	t.Parallel()
	o := read(
		t,
		parts(`{"text":"I ","thought":true}`), parts(`{"text":"think","thought":true,"thoughtSignature":"dGhpbms="}`),
		parts(`{"text":"Hel"}`), parts(`{"text":"lo"}`), parts(`{"text":"","thoughtSignature":"dGV4dA=="}`),
		parts(`{"functionCall":{"id":"c1","name":"read","args":{"path":"a"}},"thoughtSignature":"Y2FsbA=="}`, `{"functionCall":{"id":"c2","name":"ls"}}`),
		stop,
	)
	require.Nil(t, o.Err, "%v", o.Err)
	require.Equal(t, []provider.Block{
		{Type: provider.TypeThinking, Thinking: "I think", ThinkingSignature: "dGhpbms="},
		{Type: provider.TypeText, Text: "Hello", TextSignature: "dGV4dA=="},
		{Type: provider.TypeToolCall, ID: "c1", Name: "read", Arguments: []byte(`{"path":"a"}`), ThoughtSignature: "Y2FsbA=="},
		{Type: provider.TypeToolCall, ID: "c2", Name: "ls", Arguments: []byte(`{}`)},
	}, o.Message.Content)
	require.Equal(t, provider.StopToolUse, o.Message.StopReason)
	require.Equal(t, "r", o.Message.ResponseID)
	u := o.Message.Usage
	require.Equal(t, []int{22, 12, 30, 64}, []int{u.Input, u.Output, u.CacheRead, u.TotalTokens})

	o = read(t, parts(`{"text":"hm","thought":true}`), parts(`{"text":"","thoughtSignature":"ZW5k"}`), stop)
	require.Equal(t, provider.Block{Type: provider.TypeText, TextSignature: "ZW5k"}, o.Message.Content[1], "an empty text can be signed")

	o = read(t, parts(`{"text":"one","thoughtSignature":"b25l"}`), parts(`{"text":"two","thoughtSignature":"dHdv"}`), parts(`{"text":"!"}`), stop)
	require.Equal(t, []provider.Block{
		{Type: provider.TypeText, Text: "one", TextSignature: "b25l"}, {Type: provider.TypeText, Text: "two!", TextSignature: "dHdv"},
	}, o.Message.Content, "a block has one signature")
}

// Calls without an id, or with that of another call, get one of their own.
func TestCallsGetIDs(t *testing.T) {
	t.Parallel()
	o := read(t, parts(
		`{"functionCall":{"name":"ls"}}`, `{"functionCall":{"name":"ls","args":null}}`,
		`{"functionCall":{"id":"a","name":"ls"}}`, `{"functionCall":{"id":"a","name":"ls"}}`,
	), stop)
	ids := map[string]bool{}
	for _, c := range o.Message.ToolCalls() {
		require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, c.ID)
		require.Equal(t, "{}", string(c.Arguments))
		require.Empty(t, c.ArgumentsError)
		ids[c.ID] = true
	}
	require.Len(t, ids, 4)
	require.True(t, ids["a"])

	o = read(t, parts(`{"functionCall":{"id":"a"}}`), stop)
	require.Equal(t, provider.Protocol, o.Err.Class, "a call has a name")
}

func TestFinishReasons(t *testing.T) {
	t.Parallel()
	finish := func(reason, message string) string {
		return `{"candidates":[{"content":{"parts":[{"text":"so far"}]},"finishReason":"` + reason + `","finishMessage":"` + message + `"}]}`
	}
	for reason, want := range map[string]string{"STOP": provider.StopEnd, "MAX_TOKENS": provider.StopLength} {
		o := read(t, finish(reason, ""))
		require.Nil(t, o.Err)
		require.Empty(t, o.Note)
		require.Equal(t, want, o.Message.StopReason)
	}
	for reason, want := range map[string]provider.Class{
		"SAFETY": provider.Refused, "RECITATION": provider.Refused, "PROHIBITED_CONTENT": provider.Refused,
		"MALFORMED_FUNCTION_CALL": provider.Server, "UNEXPECTED_TOOL_CALL": provider.Server,
		"MISSING_THOUGHT_SIGNATURE": provider.InvalidRequest,
	} {
		o := read(t, finish(reason, "the reason in words"))
		require.Equal(t, want, o.Err.Class, reason)
		require.Contains(t, o.Err.Message, "the reason in words")
		require.Equal(t, reason, o.Err.Code)
		require.Equal(t, "so far", o.Message.PlainText())
	}
	require.True(t, read(t, finish("MALFORMED_FUNCTION_CALL", "")).Err.Retryable(), "models rarely repeat a mistake")

	o := read(t, finish("MOOD", ""))
	require.Nil(t, o.Err)
	require.Equal(t, provider.StopEnd, o.Message.StopReason)
	require.Contains(t, o.Note, `"MOOD"`)
	require.Equal(t, provider.Truncated, read(t, parts(`{"text":"an end without a reason"}`)).Err.Class)
}

// A prompt that the service blocks has no answer at all.
func TestBlockedPrompts(t *testing.T) {
	t.Parallel()
	o := read(t, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":9}}`)
	require.Equal(t, provider.Refused, o.Err.Class)
	require.Contains(t, o.Err.Message, "PROHIBITED_CONTENT")
	require.Equal(t, 9, o.Message.Usage.Input)
	o = read(t, `{"promptFeedback":{"blockReason":"OTHER","blockReasonMessage":"not here"}}`)
	require.Equal(t, provider.Refused, o.Err.Class)
	require.Contains(t, o.Err.Message, "not here")
	o = read(t, `{"promptFeedback":{"blockReason":"BLOCKED_REASON_UNSPECIFIED"}}`, parts(`{"text":"ok"}`), stop)
	require.Nil(t, o.Err)
}

func TestErrorsWithinAStream(t *testing.T) {
	t.Parallel()
	text := parts(`{"text":"so far"}`)
	o := read(t, text, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`)
	require.Equal(t, provider.Overloaded, o.Err.Class)
	require.Equal(t, "so far", o.Message.PlainText())
	o = read(t, text, `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"2.5s"}]}}`)
	require.Equal(t, provider.RateLimit, o.Err.Class)
	require.Equal(t, "2.5s", o.Err.RetryAfter.String())
	require.Equal(t, provider.Truncated, read(t, text, `{"candidates":`).Err.Class)
	require.Equal(t, provider.Truncated, read(t, text, `{"candidates":{}}`).Err.Class)
	require.Equal(t, provider.Protocol, read(t, `[]`).Err.Class)
	require.Equal(t, provider.Truncated, read(t, `{}`).Err.Class)
}

// Parts that are not known here do not disturb the others.
func TestUnknownParts(t *testing.T) {
	t.Parallel()
	o := read(t, parts(`{"executableCode":{"code":"1"}}`, `{"text":"a"}`, `{"novelty":{}}`, `{}`, `{"text":"b"}`), `{"candidates":[]}`, stop)
	require.Nil(t, o.Err)
	require.Equal(t, "ab", o.Message.PlainText())
}

// FuzzDecoder checks that the contract holds for every response of a service.
func FuzzDecoder(f *testing.F) {
	f.Add(parts(`{"text":"a","thought":true,"thoughtSignature":"x"}`, `{"functionCall":{"name":"a","args":{"a":[1]}}}`), stop)
	f.Add(`{"candidates":[{"content":null,"finishReason":"MAX_TOKENS"}],"usageMetadata":{"promptTokenCount":1e99}}`, `{"error":"x"}`)
	f.Add(`{"promptFeedback":{"blockReason":"x"}}`, `{"candidates":[{"content":{"parts":[null,{"functionCall":{}}]}}]}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		read(t, first, second)
	})
}
