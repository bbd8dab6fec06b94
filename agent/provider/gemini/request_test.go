package gemini_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/gemini"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// send returns the request of the client, as the service reads it.
func send(t *testing.T, id string, change func(*provider.Request)) providertest.Request {
	t.Helper()
	s := providertest.New(t)
	s.Script(id, providertest.Reply{Text: "ok"})
	s.Limit(id, providertest.Limits{Signed: id == newest})
	req := provider.Request{Model: s.Model(provider.GoogleGenerativeAI, id), Messages: []provider.Message{userMessage("Hello")}}
	change(&req)
	o := providertest.Collect(t, gemini.New(guard.Options{}).Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
	return s.Requests()[0]
}

const newest, older = "gemini-3-pro-preview", "gemini-2.5-flash"

func userMessage(text string) provider.Message {
	return provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}}
}

func members(t *testing.T, raw []byte) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &m))
	return m
}

func TestThinking(t *testing.T) {
	t.Parallel()
	words := func(levels ...provider.Level) map[provider.Level]*string {
		m := map[provider.Level]*string{}
		for _, l := range provider.Levels {
			m[l] = nil
		}
		for _, l := range levels {
			m[l] = (*string)(&l)
		}
		return m
	}
	pro := words(provider.Low, provider.Medium, provider.High)
	flash := words(provider.Minimal, provider.Low, provider.Medium, provider.High)
	for name, c := range map[string]struct {
		id        string
		level     provider.Level
		levels    map[provider.Level]*string
		change    func(*provider.Request)
		thinking  string
		maxTokens string
	}{
		"a level":               {newest, provider.Medium, pro, nil, `{"includeThoughts":true,"thinkingLevel":"MEDIUM"}`, "32000"},
		"off":                   {newest, provider.Off, pro, nil, `{"thinkingLevel":"LOW"}`, "32000"},
		"not said":              {"gemini-3-flash-preview", "", flash, nil, `{"thinkingLevel":"MINIMAL"}`, "32000"},
		"not in the catalogue":  {"gemini-4-neon", provider.High, nil, nil, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`, "32000"},
		"and off":               {"gemini-4-neon", provider.Off, nil, nil, `{"thinkingLevel":"LOW"}`, "32000"},
		"the newest":            {"gemini-flash-latest", provider.Low, flash, nil, `{"includeThoughts":true,"thinkingLevel":"LOW"}`, "32000"},
		"Gemma":                 {"gemma-4-31b-it", provider.High, nil, nil, `{"includeThoughts":true,"thinkingLevel":"HIGH"}`, "32000"},
		"Gemma, off":            {"gemma-4-31b-it", provider.Off, nil, nil, `{"thinkingLevel":"MINIMAL"}`, "32000"},
		"a budget":              {"gemini-2.5-pro", provider.High, nil, func(r *provider.Request) { r.Model.MaxTokens = 65536 }, `{"includeThoughts":true,"thinkingBudget":32768}`, "65536"},
		"a budget, minimal":     {"gemini-2.5-flash-lite", provider.Minimal, nil, nil, `{"includeThoughts":true,"thinkingBudget":512}`, "32000"},
		"a budget, off":         {older, provider.Off, nil, nil, `{"thinkingBudget":0}`, "32000"},
		"always thinks":         {"gemini-2.5-pro", provider.Off, nil, nil, `{"thinkingBudget":128}`, "32000"},
		"above the highest":     {older, provider.Max, nil, nil, `{"includeThoughts":true,"thinkingBudget":24576}`, "32000"},
		"a budget of its own":   {"gemini-2.5-robot", provider.High, nil, nil, `{"includeThoughts":true,"thinkingBudget":-1}`, "32000"},
		"unknown, off":          {"gemini-2.5-robot", provider.Off, nil, nil, ``, "32000"},
		"no thinking":           {"gemini-2.0-flash", provider.High, nil, func(r *provider.Request) { r.Model.Reasoning = false }, ``, "32000"},
		"room for an answer":    {older, provider.High, nil, func(r *provider.Request) { r.Model.MaxTokens = 8000 }, `{"includeThoughts":true,"thinkingBudget":6976}`, "8000"},
		"a tiny model":          {older, provider.High, nil, func(r *provider.Request) { r.Model.MaxTokens = 1024 }, `{"includeThoughts":true,"thinkingBudget":512}`, "1024"},
		"a short answer":        {older, provider.Low, nil, func(r *provider.Request) { r.MaxTokens = 500 }, `{"includeThoughts":true,"thinkingBudget":1524}`, "2548"},
		"a short answer, level": {newest, provider.Low, pro, func(r *provider.Request) { r.MaxTokens = 500 }, `{"includeThoughts":true,"thinkingLevel":"LOW"}`, "8692"},
		"unknown limits":        {older, provider.Low, nil, func(r *provider.Request) { r.Model.MaxTokens = 0 }, `{"includeThoughts":true,"thinkingBudget":2048}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := send(t, c.id, func(req *provider.Request) {
				req.Thinking, req.Model.ThinkingLevelMap = c.level, c.levels
				if c.change != nil {
					c.change(req)
				}
			})
			config := members(t, members(t, r.Body)["generationConfig"])
			require.Equal(t, c.thinking, string(config["thinkingConfig"]))
			require.Equal(t, c.maxTokens, string(config["maxOutputTokens"]))
		})
	}
}

// talk is a conversation with parallel calls, an image in a result, a failed call and a user who
// speaks before the next answer. The answers are those of the model m.
func talk(m provider.Model) []provider.Message {
	image := provider.Block{Type: provider.TypeImage, Data: "AAAA", MimeType: "image/png"}
	by := func(blocks ...provider.Block) provider.Message {
		return provider.Message{Role: provider.RoleAssistant, API: m.API, Provider: m.Provider, Model: m.ID, StopReason: provider.StopToolUse, Content: blocks}
	}
	no, yes := false, true
	return []provider.Message{
		{Role: provider.RoleUser, Content: []provider.Block{provider.Text("see"), image}},
		userMessage("now"),
		by(
			provider.Block{Type: provider.TypeThinking, Thinking: "First."},
			provider.Text("Reading <it>."),
			provider.Block{Type: provider.TypeToolCall, ID: "a|fc", Name: "read", Arguments: json.RawMessage(`{"x":"<&>"}`), ThoughtSignature: "not base64!"},
			provider.Block{Type: provider.TypeToolCall, ID: "b", Name: "ls"},
		),
		{Role: provider.RoleToolResult, ToolCallID: "a|fc", ToolName: "another name", Content: []provider.Block{image}, IsError: &no},
		{Role: provider.RoleToolResult, ToolCallID: "b", Content: []provider.Block{provider.Text("no \xff such")}, IsError: &yes},
		userMessage("and?"),
	}
}

// The newest models get ids, signatures, and images in results.
func TestMessages(t *testing.T) {
	t.Parallel()
	r := send(t, newest, func(req *provider.Request) { req.Messages = talk(req.Model) })
	require.JSONEq(t, `[
		{"role":"user","parts":[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"text":"now"}]},
		{"role":"model","parts":[{"thought":true,"text":"First."},{"text":"Reading <it>."},
			{"functionCall":{"id":"a|fc","name":"read","args":{"x":"<&>"}},"thoughtSignature":"skip_thought_signature_validator"},
			{"functionCall":{"id":"b","name":"ls","args":{}}}]},
		{"role":"user","parts":[
			{"functionResponse":{"id":"a|fc","name":"read","response":{"output":"(see attached image)"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}},
			{"functionResponse":{"id":"b","name":"ls","response":{"error":"no \ufffd such"}}},
			{"text":"and?"}]}
	]`, string(members(t, r.Body)["contents"]))
}

// Older models get none of these; images follow the results.
func TestMessagesOfOlderModels(t *testing.T) {
	t.Parallel()
	r := send(t, older, func(req *provider.Request) {
		req.Messages = talk(provider.Model{API: provider.AnthropicMessages, Provider: "anthropic", ID: "claude"})
	})
	require.JSONEq(t, `[
		{"role":"user","parts":[{"text":"see"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"text":"now"}]},
		{"role":"model","parts":[{"text":"First."},{"text":"Reading <it>."},
			{"functionCall":{"name":"read","args":{"x":"<&>"}}},{"functionCall":{"name":"ls","args":{}}}]},
		{"role":"user","parts":[
			{"functionResponse":{"name":"read","response":{"output":"(see attached image)"}}},
			{"functionResponse":{"name":"ls","response":{"error":"no \ufffd such"}}},
			{"text":"Attached image(s) from tool result:"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},
			{"text":"and?"}]}
	]`, string(members(t, r.Body)["contents"]))
}

func TestSystemPromptAndTools(t *testing.T) {
	t.Parallel()
	r := send(t, newest, func(req *provider.Request) {
		req.System = "Be <brief>."
		req.Tools = []provider.Tool{{Name: "ls", Description: "Lists.", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}}
	})
	m := members(t, r.Body)
	require.JSONEq(t, `{"parts":[{"text":"Be <brief>."}]}`, string(m["systemInstruction"]))
	require.JSONEq(t, `[{"functionDeclarations":[{"name":"ls","description":"Lists.","parametersJsonSchema":{"type":"object","properties":{}}}]}]`, string(m["tools"]))
	require.NotContains(t, string(r.Body), `\u003c`, "the body is not escaped for HTML")
}

// A signature goes back with the part that it came with, to the model that made it and to no other.
func TestSignaturesGoBackToTheirModel(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	s.Limit(newest, providertest.Limits{Signed: true})
	m := s.Model(provider.GoogleGenerativeAI, newest)
	s.Script(
		newest, providertest.Reply{Thinking: "hm", Text: "I look.", ToolCalls: []providertest.Call{{Name: "ls", ID: "1"}, {Name: "ls", ID: "2"}}},
		providertest.Reply{Text: "Done."}, providertest.Reply{Text: "Yes."},
	)
	req := provider.Request{Model: m, Messages: []provider.Message{userMessage("Hello")}}
	ask := func() provider.Message {
		o := providertest.Collect(t, gemini.New(guard.Options{}).Stream(t.Context(), req))
		require.Nil(t, o.Err, "%v", o.Err)
		stored, err := provider.DecodeMessage(o.Message.Encode())
		require.NoError(t, err)
		req.Messages = append(req.Messages, stored)
		for _, c := range stored.ToolCalls() {
			req.Messages = append(req.Messages, provider.Message{
				Role: provider.RoleToolResult, ToolCallID: c.ID, ToolName: c.Name, Content: []provider.Block{provider.Text("seen")}, IsError: new(bool),
			})
		}
		return stored
	}
	first := ask()
	require.NotEmpty(t, first.Content[0].ThinkingSignature)
	require.NotEmpty(t, first.ToolCalls()[0].ThoughtSignature)
	require.Empty(t, first.ToolCalls()[1].ThoughtSignature)
	second := ask()
	require.NotEmpty(t, second.Content[0].TextSignature)
	req.Messages = append(req.Messages, userMessage("Sure?"))
	ask() // the service checks all signatures

	sent := s.Requests()[2].Messages
	require.Equal(t, first.Content, sent[1].Content)
	require.Equal(t, second.Content, sent[4].Content)

	// Another model, and the same one of another service.
	for _, change := range []func(*provider.Model){
		func(m *provider.Model) { m.ID = "gemini-3.8-flash" }, func(m *provider.Model) { m.Provider = "opencode" },
	} {
		other := req
		change(&other.Model)
		other.Messages = append(slices.Clip(other.Messages), userMessage("You, too?"))
		s.Script(other.Model.ID, providertest.Reply{Text: "ok"})
		o := providertest.Collect(t, gemini.New(guard.Options{}).Stream(t.Context(), other))
		require.Nil(t, o.Err, "%v", o.Err)
		all := s.Requests()
		body := string(all[len(all)-1].Body)
		for _, b := range append(first.Content, second.Content...) {
			if signature := b.ThinkingSignature + b.TextSignature + b.ThoughtSignature; signature != "" {
				require.NotContains(t, body, signature)
			}
		}
		require.Contains(t, body, "skip_thought_signature_validator")
	}
}

// An empty text with a signature goes back, too; without it the thinking is lost.
func TestSignedEmptyTextGoesBack(t *testing.T) {
	t.Parallel()
	signed := provider.Block{Type: provider.TypeText, TextSignature: "dGV4dA=="}
	answer := provider.Message{
		Role: provider.RoleAssistant, API: provider.GoogleGenerativeAI, Provider: "google", Model: newest, StopReason: provider.StopEnd,
		Content: []provider.Block{{Type: provider.TypeThinking, Thinking: "hm"}, signed},
	}
	m := provider.Model{API: provider.GoogleGenerativeAI, Provider: "google", ID: newest}
	out := provider.Prepare([]provider.Message{userMessage("hi"), answer}, m)
	require.Equal(t, answer.Content, out[1].Content)
	m.ID = "gemini-4"
	out = provider.Prepare([]provider.Message{userMessage("hi"), answer}, m)
	require.Equal(t, []provider.Block{provider.Text("hm")}, out[1].Content)
}

// The id of a model comes from a session file and can't lead to another resource of the service.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"../../upload", "a/b?key=x#y", "..", "m:generateContent", "ü <", "%2e%2e%2f"} {
		require.Equal(t, id, send(t, id, func(req *provider.Request) { req.Model.BaseURL += "/" }).Model)
	}
}
