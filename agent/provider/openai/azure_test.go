package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

type variables map[string]string

func (v variables) get(name string) string { return v[name] }

// The address is the customer's, from the environment before that of models.json, and encrypted.
func TestAzureAddresses(t *testing.T) {
	t.Parallel()
	const base, resource = "AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_RESOURCE_NAME"
	for _, c := range []struct {
		env   variables
		model string
		want  string // "" is an error
	}{
		{variables{resource: "contoso"}, "", "https://contoso.openai.azure.com/openai/v1"},
		{variables{base: "https://contoso.openai.azure.com", resource: "other"}, "", "https://contoso.openai.azure.com/openai/v1"},
		{variables{base: " https://contoso.openai.azure.com/openai/ "}, "", "https://contoso.openai.azure.com/openai/v1"},
		{variables{base: "https://c.ai.azure.com/openai/v1/responses?api-version=1"}, "", "https://c.ai.azure.com/openai/v1"},
		{variables{base: "https://c.cognitiveservices.azure.com/openai/v1/"}, "", "https://c.cognitiveservices.azure.com/openai/v1"},
		{variables{base: "https://gateway.example/azure/"}, "", "https://gateway.example/azure"},
		{variables{base: "http://127.0.0.1:9/v1"}, "", "http://127.0.0.1:9/v1"},
		{variables{}, "https://of-models-json.example/v1", "https://of-models-json.example/v1"},
		{variables{base: "https://env.example"}, "https://of-models-json.example/v1", "https://env.example"},
		{variables{}, "", ""},
		{variables{base: "http://contoso.openai.azure.com"}, "", ""},
		{variables{base: "contoso.openai.azure.com"}, "", ""},
		{variables{base: "ftp://contoso"}, "", ""},
		{variables{}, "http://127.0.0.1.evil.example/v1", ""},
		{variables{resource: "evil.example/"}, "", ""},
		{variables{resource: "a@evil.example#"}, "", ""},
	} {
		got, err := openai.NewAzure(guard.Options{}, c.env.get).Address(provider.Model{BaseURL: c.model})
		require.Equal(t, c.want, got, "%+v", c)
		require.Equal(t, c.want == "", err != nil, "%+v", c)
		if len(c.env) == 0 && c.model == "" {
			require.ErrorContains(t, err, "AZURE_OPENAI_BASE_URL")
		}
	}
}

// spy records the address of a request.
type spy struct {
	http.RoundTripper
	url string
}

func (s *spy) RoundTrip(r *http.Request) (*http.Response, error) {
	s.url = r.URL.RequestURI()
	return s.RoundTripper.RoundTrip(r)
}

// A deployment has a name of its own; the answer keeps that of the model.
func TestAzureDeployments(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	s.Key = "the-key-of-the-resource"
	s.Script("our-gpt", providertest.Reply{Thinking: "hm", Text: "ok", ToolCalls: []providertest.Call{{Name: "ls"}}})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	wire := &spy{RoundTripper: transport}
	env := variables{
		"AZURE_OPENAI_BASE_URL": s.URL(provider.AzureResponses), "AZURE_OPENAI_API_VERSION": "2026-01-01&x",
		"AZURE_OPENAI_DEPLOYMENT_NAME_MAP": "gpt-4=four, gpt-5 = our-gpt ,=x,broken",
	}
	m := s.Model(provider.AzureResponses, "gpt-5")
	m.BaseURL = ""
	req := provider.Request{Model: m, Messages: []provider.Message{userMessage("Hello")}, Key: s.Key}
	c := openai.NewAzure(guard.Options{Transport: wire}, env.get)
	o := providertest.Collect(t, c.Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
	require.Equal(t, "gpt-5", o.Message.Model)
	require.Equal(t, provider.AzureResponses, o.Message.API)
	require.Equal(t, "/openai/v1/responses?api-version=2026-01-01%26x", wire.url)

	// The reasoning goes back: the model is the one that made it.
	req.Messages = append(req.Messages, o.Message, provider.Message{
		Role: provider.RoleToolResult, ToolCallID: o.Message.ToolCalls()[0].ID, Content: []provider.Block{provider.Text("a")}, IsError: new(bool),
	})
	o = providertest.Collect(t, c.Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
	sent := s.Requests()[1]
	require.Equal(t, "our-gpt", sent.Model)
	require.Contains(t, string(sent.Body), `"encrypted_content"`)

	req.Model.ID = "broken"
	s.Script("broken", providertest.Reply{Text: "ok"})
	o = providertest.Collect(t, c.Stream(t.Context(), req))
	require.Nil(t, o.Err, "%v", o.Err)
}
