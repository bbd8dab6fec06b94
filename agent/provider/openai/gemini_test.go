package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// gemini is a service that refuses tool calls without the signature of Gemini 3.
func gemini(t *testing.T, id string) (s *providertest.Server, req provider.Request) {
	t.Helper()
	s = providertest.New(t)
	s.Limit(id, providertest.Limits{Signed: true})
	m := s.Model(provider.OpenAICompletions, id)
	m.Provider = "google"
	return s, provider.Request{Model: m, Messages: []provider.Message{userMessage("Hello")}, Tools: []provider.Tool{
		{Name: "look", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
	}}
}

// called returns an answer with calls and their results.
func called(answer provider.Message) []provider.Message {
	all := []provider.Message{answer}
	for _, c := range answer.ToolCalls() {
		all = append(all, provider.Message{
			Role: provider.RoleToolResult, ToolCallID: c.ID, ToolName: c.Name,
			Content: []provider.Block{provider.Text("seen")}, IsError: new(bool),
		})
	}
	return all
}

// The signature of a call is kept as pi keeps it, and goes back with the call.
func TestGeminiSignsItsCalls(t *testing.T) {
	t.Parallel()
	s, req := gemini(t, "gemini-3-pro-preview")
	s.Script(req.Model.ID,
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "look", Signature: "c2lnbmVk"}, {Name: "look"}}},
		providertest.Reply{Text: "Done."})
	o := providertest.Collect(t, client(req.Model.API, guard.Options{}).Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
	stored, err := provider.DecodeMessage(o.Message.Encode())
	require.NoError(t, err)
	require.Equal(t, "c2lnbmVk", stored.ToolCalls()[0].ThoughtSignature)

	req.Messages = append(req.Messages, called(stored)...)
	o = providertest.Collect(t, client(req.Model.API, guard.Options{}).Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
	calls := s.Requests()[1].Messages[1].ToolCalls()
	require.Equal(t, "c2lnbmVk", calls[0].ThoughtSignature)
	require.Equal(t, "skip_thought_signature_validator", calls[1].ThoughtSignature, "only the first of parallel calls is signed")
}

// A conversation that another model began can continue with Gemini.
func TestGeminiContinuesCallsOfOtherModels(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"gemini-3-flash": "skip_thought_signature_validator", "gemini-flash-latest": "skip_thought_signature_validator",
		"gemini-2.5-pro": "", "gemini-1.5-pro": "",
	} {
		s, req := gemini(t, id)
		if want == "" {
			s.Limit(id, providertest.Limits{})
		}
		s.Script(id, providertest.Reply{Text: "Done."})
		req.Messages = append(req.Messages, called(provider.Message{
			Role: provider.RoleAssistant, API: provider.AnthropicMessages, Provider: "anthropic", Model: "claude", StopReason: provider.StopToolUse,
			Content: []provider.Block{{Type: provider.TypeToolCall, ID: "toolu_1", Name: "look", Arguments: json.RawMessage("{}"), ThoughtSignature: "of another model"}},
		})...)
		o := providertest.Collect(t, client(req.Model.API, guard.Options{}).Stream(t.Context(), req))
		require.Nil(t, o.Err, "%v", o.Err)
		require.Equal(t, want, s.Requests()[0].Messages[1].ToolCalls()[0].ThoughtSignature, id)
	}
}
