package bedrock

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// stream answers every request with these messages, and records the request.
type stream struct {
	body []byte
	last *http.Request
}

func (s *stream) RoundTrip(r *http.Request) (*http.Response, error) {
	s.last = r
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {framing.MediaType}}, Body: io.NopCloser(bytes.NewReader(s.body)),
	}, nil
}

// events makes a stream of pairs of the type and the payload of an event.
func events(pairs ...string) *stream {
	s := &stream{}
	for i := 0; i+1 < len(pairs); i += 2 {
		s.body = append(s.body, frame(pairs[i+1], ":message-type", "event", ":event-type", pairs[i])...)
	}
	return s
}

func (s *stream) then(payload string, headers ...string) *stream {
	s.body = append(s.body, frame(payload, headers...)...)
	return s
}

func read(t *testing.T, s *stream) providertest.Outcome {
	t.Helper()
	c := New(guard.Options{Transport: s}, func(string) string { return "" })
	return providertest.Collect(t, c.Stream(t.Context(), provider.Request{
		Model:    provider.Model{ID: "anthropic.claude", API: provider.BedrockConverse, Provider: "amazon-bedrock"},
		Messages: []provider.Message{{Role: provider.RoleUser, Content: []provider.Block{provider.Text("hi")}}}, Key: "token",
	}))
}

const (
	text = `{"contentBlockIndex":0,"delta":{"text":"so far"}}`
	stop = `{"stopReason":"end_turn"}`
)

func TestBlocks(t *testing.T) {
	t.Parallel()
	o := read(t, events(
		"messageStart", `{"role":"assistant"}`, "novelty", `{}`,
		"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"hm"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"si"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"gn"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"of another kind"}}`,
		"contentBlockStop", `{"contentBlockIndex":0}`,
		"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"c2Vh"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"bGVk","signature":"none"}}}`,
		"contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t","name":"ls"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{}"}}}`,
		"contentBlockDelta", `{"contentBlockIndex":9,"delta":{"toolUse":{"input":"{}"}}}`,
		"messageStop", `{"stopReason":"tool_use"}`, "metadata", `{"usage":{"inputTokens":3,"outputTokens":4,"cacheReadInputTokens":5,"cacheWriteInputTokens":6}}`,
		"contentBlockDelta", text, // behind the end
	))
	require.Nil(t, o.Err, "%v", o.Err)
	require.Equal(t, []provider.Block{
		{Type: provider.TypeThinking, Thinking: "hm", ThinkingSignature: "sign"},
		{Type: provider.TypeThinking, Redacted: true, ThinkingSignature: "c2VhbGVk"},
		{Type: provider.TypeToolCall, ID: "t", Name: "ls", Arguments: []byte("{}")},
	}, o.Message.Content)
	require.Equal(t, provider.StopToolUse, o.Message.StopReason)
	require.Equal(t, provider.Usage{Input: 3, Output: 4, CacheRead: 5, CacheWrite: 6, TotalTokens: 18}, *o.Message.Usage)
}

func TestStopReasons(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"end_turn": provider.StopEnd, "stop_sequence": provider.StopEnd, "max_tokens": provider.StopLength, "mood": provider.StopEnd,
	} {
		o := read(t, events("contentBlockDelta", text, "messageStop", `{"stopReason":"`+reason+`"}`))
		require.Nil(t, o.Err)
		require.Equal(t, want, o.Message.StopReason)
		require.Equal(t, reason == "mood", o.Note != "")
	}
	for reason, want := range map[string]provider.Class{
		"guardrail_intervened": provider.Refused, "content_filtered": provider.Refused, "malformed_tool_use": provider.Server,
	} {
		require.Equal(t, want, read(t, events("contentBlockDelta", text, "messageStop", `{"stopReason":"`+reason+`"}`)).Err.Class)
	}
	require.Equal(t, provider.Truncated, read(t, events("contentBlockDelta", text)).Err.Class)
}

func TestExceptions(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]provider.Class{
		"throttlingException": provider.RateLimit, "serviceUnavailableException": provider.Overloaded, "internalServerException": provider.Server,
		"modelStreamErrorException": provider.Server, "validationException": provider.InvalidRequest, "novelException": provider.Server,
	} {
		o := read(t, events("contentBlockDelta", text).then(`{"message":"the reason in words"}`, ":message-type", "exception", ":exception-type", kind))
		require.Equal(t, want, o.Err.Class, kind)
		require.Contains(t, o.Err.Message, "the reason in words")
		require.Equal(t, "so far", o.Message.PlainText())
	}
	require.Equal(t, provider.Truncated, read(t, events("contentBlockDelta", text, "contentBlockDelta", `{"contentBl`)).Err.Class)
	require.Equal(t, provider.Protocol, read(t, events("contentBlockStart", `{"start":{"toolUse":{"toolUseId":"t"}}}`)).Err.Class)
	damaged := events("contentBlockDelta", text, "messageStop", stop)
	damaged.body[len(damaged.body)-1]++
	require.Equal(t, provider.Truncated, read(t, damaged).Err.Class)
}

// Requests are signed only for Amazon's hosts: a signature shows who the user is, and the request what
// they work on.
func TestOtherHostsGetNoSignedRequest(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	ask := func(base string, env map[string]string) (*stream, *provider.Error) {
		s := events("contentBlockDelta", text, "messageStop", stop)
		c := New(guard.Options{Transport: s}, func(name string) string { return env[name] })
		m := provider.Model{ID: "amazon.nova", API: provider.BedrockConverse, BaseURL: base}
		o := providertest.Collect(t, c.Stream(t.Context(), provider.Request{Model: m}))
		return s, o.Err
	}
	s, err := ask("https://evil.example", nil)
	require.Equal(t, provider.Auth, err.Class)
	require.Nil(t, s.last)
	s, err = ask("https://bedrock-runtime.eu-west-1.amazonaws.com", nil)
	require.Nil(t, err)
	require.Contains(t, s.last.Header.Get("Authorization"), "/eu-west-1/bedrock/aws4_request")

	// The region of a profile takes precedence over that of the catalogue.
	dir := t.TempDir()
	config, empty := filepath.Join(dir, "config"), filepath.Join(dir, "empty")
	writeFile(t, empty, "")
	writeFile(t, config, "[profile work]\nregion = ap-south-1\naws_access_key_id = c\naws_secret_access_key = d\n")
	t.Setenv("AWS_CONFIG_FILE", config)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", empty)
	t.Setenv("AWS_PROFILE", "work")
	t.Setenv("AWS_ACCESS_KEY_ID", "") // keys take precedence over a profile
	s, err = ask("https://bedrock-runtime.us-east-1.amazonaws.com", map[string]string{"AWS_PROFILE": "work"})
	require.Nil(t, err)
	require.Equal(t, "bedrock-runtime.ap-south-1.amazonaws.com", s.last.URL.Host)
	require.Contains(t, s.last.Header.Get("Authorization"), "Credential=c/")

	// A profile that does not exist.
	t.Setenv("AWS_PROFILE", "play")
	s, err = ask("https://bedrock-runtime.us-east-1.amazonaws.com", map[string]string{"AWS_PROFILE": "play"})
	require.Equal(t, provider.Auth, err.Class)
	require.Contains(t, err.Message, "aws sso login")
	require.Nil(t, s.last)
}

// FuzzDecoder checks that the contract holds for every response of a service.
func FuzzDecoder(f *testing.F) {
	f.Add("contentBlockDelta", text, "messageStop", stop)
	f.Add("contentBlockStart", `{"start":{"toolUse":{"toolUseId":"t","name":"x"}}}`, "contentBlockDelta", `{"delta":{"reasoningContent":{"redactedContent":"x"}}}`)
	f.Fuzz(func(t *testing.T, first, a, second, b string) {
		if len(first) < 1<<15 && len(second) < 1<<15 {
			read(t, events(first, a, second, b, first, a))
		}
	})
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}
