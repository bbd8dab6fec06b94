package bedrock_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/bedrock"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

const opus, nova = "us.anthropic.claude-opus-4-5-20251101-v1:0", "amazon.nova-lite-v1:0"

func userMessage(text string) provider.Message {
	return provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}}
}

// send returns the request of the client, as the service reads it, and its members.
func send(t *testing.T, id string, env variables, change func(*provider.Request)) (providertest.Request, map[string]json.RawMessage) {
	t.Helper()
	s := providertest.New(t)
	s.Script(id, providertest.Reply{Text: "ok"})
	req := provider.Request{Model: s.Model(provider.BedrockConverse, id), Messages: []provider.Message{userMessage("Hello")}, Key: "token"}
	change(&req)
	o := providertest.Collect(t, bedrock.New(guard.Options{}, env.get).Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
	r := s.Requests()[0]
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(r.Body, &m))
	return r, m
}

func TestMessages(t *testing.T) {
	t.Parallel()
	image := provider.Block{Type: provider.TypeImage, Data: "AAAA", MimeType: "image/jpg"}
	yes := true
	talk := func(m provider.Model) []provider.Message {
		return []provider.Message{
			{Role: provider.RoleUser, Content: []provider.Block{provider.Text("see"), image, {Type: provider.TypeImage, Data: "AAAA", MimeType: "image/heic"}}},
			{Role: provider.RoleAssistant, API: m.API, Provider: m.Provider, Model: m.ID, Content: []provider.Block{
				{Type: provider.TypeThinking, Thinking: "unsigned"},
				{Type: provider.TypeThinking, Redacted: true, ThinkingSignature: "c2VhbGVk"},
				{Type: provider.TypeThinking, Redacted: true, ThinkingSignature: "not base64!"},
				{Type: provider.TypeToolCall, ID: "a", Name: "read", Arguments: json.RawMessage(`{"x":"<&>"}`)},
				{Type: provider.TypeToolCall, ID: "b", Name: "ls"},
			}},
			{Role: provider.RoleToolResult, ToolCallID: "a", Content: []provider.Block{image}, IsError: &yes},
			{Role: provider.RoleToolResult, ToolCallID: "b", Content: []provider.Block{provider.Text("b \xff"), image}},
			userMessage("and?"),
		}
	}
	_, m := send(t, opus, nil, func(req *provider.Request) {
		req.Messages, req.System = talk(req.Model), "Be brief."
		req.Tools = []provider.Tool{{Name: "ls", Description: "Lists.", Parameters: json.RawMessage(`{"type":"object"}`)}}
	})
	const sent = `{"image":{"format":"jpeg","source":{"bytes":"AAAA"}}}`
	const mark = `{"cachePoint":{"type":"default"}}`
	require.JSONEq(t, `[
		{"role":"user","content":[{"text":"see"},`+sent+`,{"text":"(image omitted: the service does not take its format)"},`+mark+`]},
		{"role":"assistant","content":[{"text":"unsigned"},{"reasoningContent":{"redactedContent":"c2VhbGVk"}},
			{"toolUse":{"toolUseId":"a","name":"read","input":{"x":"<&>"}}},{"toolUse":{"toolUseId":"b","name":"ls","input":{}}}]},
		{"role":"user","content":[
			{"toolResult":{"toolUseId":"a","status":"error","content":[{"text":"(see attached image)"}]}},
			{"toolResult":{"toolUseId":"b","status":"success","content":[{"text":"b \ufffd"},`+sent+`]}},
			`+sent+`,{"text":"and?"},`+mark+`]}
	]`, string(m["messages"]))
	require.JSONEq(t, `[{"text":"Be brief."},`+mark+`]`, string(m["system"]))
	require.JSONEq(t, `{"tools":[{"toolSpec":{"name":"ls","description":"Lists.","inputSchema":{"json":{"type":"object"}}}}]}`, string(m["toolConfig"]))
	require.JSONEq(t, `{"maxTokens":32000}`, string(m["inferenceConfig"]))

	r, m := send(t, nova, nil, func(req *provider.Request) {
		req.Messages = talk(req.Model)
		req.Messages[2].IsError = nil // the fake service is as strict as Claude
	})
	require.Contains(t, string(m["messages"]), `{"reasoningContent":{"reasoningText":{"text":"unsigned"}}}`)
	require.NotContains(t, string(r.Body), "cachePoint")
}

func TestThinking(t *testing.T) {
	t.Parallel()
	extra := "extra"
	for name, c := range map[string]struct {
		id        string
		level     provider.Level
		env       variables
		change    func(*provider.Request)
		fields    string
		maxTokens string
	}{
		"off":            {opus, provider.Off, nil, nil, ``, `{"maxTokens":32000}`},
		"a budget":       {opus, provider.Medium, nil, nil, `{"thinking":{"type":"enabled","budget_tokens":8192,"display":"summarized"},"anthropic_beta":["interleaved-thinking-2025-05-14"]}`, `{"maxTokens":32000}`},
		"a short answer": {opus, provider.Low, nil, func(r *provider.Request) { r.MaxTokens = 500 }, `{"thinking":{"type":"enabled","budget_tokens":1524,"display":"summarized"},"anthropic_beta":["interleaved-thinking-2025-05-14"]}`, `{"maxTokens":2548}`},
		"a tiny model":   {opus, provider.High, nil, func(r *provider.Request) { r.Model.MaxTokens = 2000 }, ``, `{"maxTokens":2000}`},
		"adaptive":       {"anthropic.claude-opus-4-6-v1", provider.Minimal, nil, nil, `{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"low"}}`, `{"maxTokens":32000}`},
		"a named level": {"anthropic.claude-fable-5", provider.XHigh, nil, func(r *provider.Request) {
			r.Model.ThinkingLevelMap = map[provider.Level]*string{provider.XHigh: &extra}
		}, `{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"extra"}}`, `{"maxTokens":32000}`},
		"a government":     {"anthropic.claude-opus-4-6-v1", provider.High, variables{"AWS_REGION": "us-gov-west-1"}, nil, `{"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}}`, `{"maxTokens":32000}`},
		"GPT":              {"openai.gpt-6", provider.Minimal, nil, nil, `{"reasoning":{"effort":"low"}}`, `{"maxTokens":32000}`},
		"an open GPT":      {"openai.gpt-oss-120b-1:0", provider.Max, nil, nil, `{"reasoning_effort":"high"}`, `{"maxTokens":32000}`},
		"others":           {nova, provider.High, nil, nil, ``, `{"maxTokens":32000}`},
		"does not think":   {opus, provider.High, nil, func(r *provider.Request) { r.Model.Reasoning = false }, ``, `{"maxTokens":32000}`},
		"by its name":      {"arn:aws:bedrock:eu-west-1:1:application-inference-profile/x", provider.High, nil, func(r *provider.Request) { r.Model.Name = "Claude Opus 4.6" }, `{"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"high"}}`, `{"maxTokens":32000}`},
		"limits not known": {nova, provider.Off, nil, func(r *provider.Request) { r.Model.MaxTokens = 0 }, ``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, m := send(t, c.id, c.env, func(req *provider.Request) {
				req.Thinking = c.level
				if c.change != nil {
					c.change(req)
				}
			})
			require.Equal(t, c.fields, string(m["additionalModelRequestFields"]))
			require.Equal(t, c.maxTokens, string(m["inferenceConfig"]))
		})
	}
}

// The id of a model can come from a session file. It is sent as one part of the path, and signed.
func TestSignedAddresses(t *testing.T) {
	account(t)
	for _, id := range []string{"a.b-c_d~e:0", "arn:aws:bedrock:eu-west-1:1:inference-profile/x", "../x?y=z&a#b", "ü <>+%2F*"} {
		r, _ := send(t, id, nil, func(req *provider.Request) { req.Key = "" })
		require.Equal(t, id, r.Model)
		require.Equal(t, "the-session", r.Header.Get("X-Amz-Security-Token"))
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	const common, profile = "https://bedrock-runtime.us-east-1.amazonaws.com", "arn:aws:bedrock:eu-west-1:1:inference-profile/x"
	keys := variables{"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
	with := func(name, value string) variables {
		v := variables{name: value}
		maps.Copy(v, keys)
		return v
	}
	for _, c := range []struct {
		env      variables
		id, base string
		want     string
		ambient  bool
	}{
		{variables{}, nova, common, common, false},
		{keys, nova, common, common, true},
		{variables{"AWS_ACCESS_KEY_ID": "a"}, nova, common, common, false},
		{variables{"AWS_PROFILE": "work"}, nova, common, common, true},
		{with("AWS_REGION", "eu-central-1"), nova, common, "https://bedrock-runtime.eu-central-1.amazonaws.com", true},
		{with("AWS_DEFAULT_REGION", "cn-north-1"), nova, common, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn", true},
		{with("AWS_REGION", "eu-central-1"), profile, common, "https://bedrock-runtime.eu-west-1.amazonaws.com", true},
		{with("AWS_REGION", "evil.example/"), nova, common, "", false},
		{with("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "https://proxy.example"), nova, common, "https://proxy.example", true},
		{with("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://proxy.example"), nova, common, "http://proxy.example", false},
		{keys, nova, "https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com", "https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com", true},
		{keys, nova, "https://evil.example", "https://evil.example", false},
		{keys, nova, "https://bedrock-runtime.us-east-1.amazonaws.com.evil.example", "https://bedrock-runtime.us-east-1.amazonaws.com.evil.example", false},
		{keys, nova, "", "https://bedrock-runtime.us-east-1.amazonaws.com", true},
	} {
		b := bedrock.New(guard.Options{}, c.env.get)
		m := provider.Model{ID: c.id, BaseURL: c.base}
		got, err := b.Address(m)
		require.Equal(t, c.want, got, "%+v", c)
		require.Equal(t, c.want == "", err != nil)
		require.Equal(t, c.ambient, b.Ambient(m), "%+v", c)
	}
}
