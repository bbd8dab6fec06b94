package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/bedrock"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/gemini"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/openai"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

type files map[string]string

func open(t *testing.T, f files, env map[string]string) *catalog.Catalog {
	t.Helper()
	fs := afero.NewMemMapFs()
	for path, content := range f {
		require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
	}
	service := &providertest.Scripted{}
	getenv := func(name string) string { return env[name] }
	return &catalog.Catalog{
		Fs: fs, AgentDirs: []string{"/own", "/pi"}, Getenv: getenv,
		Services: map[provider.API]provider.Provider{
			provider.AnthropicMessages: service, provider.OpenAICompletions: service, provider.OpenAIResponses: service, provider.Scripted: service,
			provider.GoogleGenerativeAI: service, provider.AzureResponses: openai.NewAzure(guard.Options{}, getenv),
			provider.GoogleVertex: gemini.NewVertex(guard.Options{}, getenv), provider.BedrockConverse: bedrock.New(guard.Options{}, getenv),
		},
	}
}

func find(t *testing.T, c *catalog.Catalog, name string) provider.Model {
	t.Helper()
	ref, ok := provider.ParseRef(name)
	require.True(t, ok)
	m, ok := c.Find(t.Context(), ref)
	require.True(t, ok, name)
	return m
}

// Every record is usable: it can be requested, has limits, and its levels are levels.
func TestEmbeddedModels(t *testing.T) {
	t.Parallel()
	s := catalog.Embedded()
	assert.Contains(t, s.Source, "pi-ai")
	assert.NotEmpty(t, s.Date)
	require.Greater(t, len(s.Models), 1000)
	seen := map[provider.Ref]bool{}
	for _, m := range s.Models {
		require.NotEmpty(t, m.ID)
		require.NotEmpty(t, m.Provider)
		require.Equal(t, m.API == provider.AzureResponses, m.BaseURL == "", m.ID)
		require.Contains(t, []provider.API{
			provider.AnthropicMessages, provider.OpenAICompletions, provider.OpenAIResponses,
			provider.AzureResponses, provider.GoogleGenerativeAI, provider.GoogleVertex, provider.BedrockConverse,
		}, m.API)
		require.Positive(t, m.ContextWindow, m.ID)
		require.False(t, seen[m.Ref()], m.Ref())
		require.NotEmpty(t, m.SupportedLevels(), m.ID)
		if len(m.Compat) > 0 {
			require.True(t, json.Valid(m.Compat))
		}
		seen[m.Ref()] = true
	}
	opus := find(t, open(t, nil, nil), "anthropic/claude-opus-4-5")
	assert.Equal(t, provider.AnthropicMessages, opus.API)
	assert.Equal(t, 200_000, opus.ContextWindow)
	assert.True(t, opus.TakesImages())
	assert.InDelta(t, 25, opus.Cost.Output, 0)
}

// Google's models are reached over its own API. A gateway's key goes to the gateway.
func TestModelsOfGoogle(t *testing.T) {
	t.Parallel()
	c := open(t, nil, map[string]string{"GEMINI_API_KEY": "of google"})
	for name, base := range map[string]string{
		"google/gemini-3.1-pro-preview": "https://generativelanguage.googleapis.com/v1beta",
		"google/gemini-of-tomorrow":     "https://generativelanguage.googleapis.com/v1beta",
		"opencode/gemini-3.1-pro":       "https://opencode.ai/inference/google/v1beta",
	} {
		m := find(t, c, name)
		assert.Equal(t, provider.GoogleGenerativeAI, m.API)
		assert.Equal(t, base, m.BaseURL)
	}
	assert.Equal(t, []provider.Level{provider.Low, provider.Medium, provider.High}, find(t, c, "google/gemini-3.1-pro-preview").SupportedLevels())
	key, err := c.Key(t.Context(), find(t, c, "google/gemini-3.1-pro-preview"))
	require.NoError(t, err)
	assert.Equal(t, "of google", key)
}

// Models at a customer's own address are available when the environment names it.
func TestModelsAtTheCustomersAddress(t *testing.T) {
	t.Parallel()
	available := func(c *catalog.Catalog, name string) bool {
		for _, m := range c.All(t.Context()) {
			if m.Ref().String() == name {
				return m.Available
			}
		}
		t.Fatal(name)
		return false
	}
	const gpt, flash = "azure/gpt-4.1", "google-vertex/gemini-2.5-flash"
	c := open(t, nil, map[string]string{"AZURE_OPENAI_API_KEY": "k"})
	assert.False(t, available(c, gpt))
	assert.False(t, available(c, flash))
	_, err := c.Key(t.Context(), find(t, c, gpt))
	require.ErrorContains(t, err, "AZURE_OPENAI_BASE_URL")
	_, err = c.Key(t.Context(), find(t, c, flash))
	requireMissing(t, err, "google-vertex", "Google Vertex AI", "GOOGLE_CLOUD_API_KEY")

	c = open(t, nil, map[string]string{
		"AZURE_OPENAI_API_KEY": "k", "AZURE_OPENAI_RESOURCE_NAME": "contoso",
		"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "europe-west1",
	})
	assert.True(t, available(c, gpt))
	assert.True(t, available(c, flash), "with the credentials of the machine")
	assert.Equal(t, "https://contoso.openai.azure.com/openai/v1", find(t, c, gpt).BaseURL)
	assert.Equal(t, "https://contoso.openai.azure.com/openai/v1", find(t, c, "azure/of-tomorrow").BaseURL)
	assert.Equal(t, "https://europe-west1-aiplatform.googleapis.com", find(t, c, flash).BaseURL)
	key, err := c.Key(t.Context(), find(t, c, flash))
	require.NoError(t, err)
	assert.Empty(t, key)

	// An address from a file does not get the credentials of the machine.
	credentials := map[string]string{
		"GOOGLE_CLOUD_PROJECT": "p", "GOOGLE_CLOUD_LOCATION": "europe-west1",
		"AWS_PROFILE": "work", "AWS_REGION": "eu-west-3",
	}
	const claude = "amazon-bedrock/anthropic.claude-opus-4-6-v1"
	c = open(t, nil, credentials)
	assert.True(t, available(c, flash))
	assert.True(t, available(c, claude))
	assert.Equal(t, "https://bedrock-runtime.eu-west-3.amazonaws.com", find(t, c, claude).BaseURL)
	c = open(t, files{"/pi/models.json": `{"providers":{"google-vertex":{"baseUrl":"https://evil.example"},"amazon-bedrock":{"baseUrl":"https://evil.example"}}}`}, credentials)
	assert.False(t, available(c, flash))
	assert.False(t, available(c, claude))
}

func TestUnknownModelsOfKnownProviders(t *testing.T) {
	t.Parallel()
	c := open(t, nil, nil)
	m := find(t, c, "anthropic/claude-of-tomorrow")
	assert.Equal(t, provider.AnthropicMessages, m.API)
	assert.Equal(t, "https://api.anthropic.com", m.BaseURL)
	assert.Equal(t, provider.DefaultContextWindow, m.Window())
	assert.Nil(t, m.Cost, "an unknown price is not zero")
	_, ok := c.Find(t.Context(), provider.Ref{Provider: "nobody", ID: "x"})
	assert.False(t, ok)
}

func TestTheUsersModels(t *testing.T) {
	t.Parallel()
	c := open(t, files{
		"/own/models.json": `{"providers":{
			"home":{"baseUrl":"http://10.0.0.1/v1","api":"openai-completions","apiKey":"HOME_KEY","headers":{"X-A":"1"},"models":[{"id":"big","contextWindow":9000}]},
			"anthropic":{"baseUrl":"https://proxy.example/"}}}`,
		"/pi/models.json": `{"providers":{"home":{"models":[{"id":"old"}]},"other":{"api":"openai-responses","baseUrl":"http://o/v1","models":[{"id":"m"}]}}}`,
	}, map[string]string{"HOME_KEY": "secret"})
	m := find(t, c, "home/big")
	assert.Equal(t, 9000, m.ContextWindow)
	assert.Equal(t, map[string]string{"X-A": "1"}, m.Headers)
	key, err := c.Key(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, "secret", key)
	assert.Equal(t, "https://proxy.example/", find(t, c, "anthropic/claude-opus-4-5").BaseURL)
	assert.Equal(t, provider.OpenAIResponses, find(t, c, "other/m").API)
	assert.Empty(t, find(t, c, "home/old").ContextWindow, "our own file takes precedence for a provider")

	broken := open(t, files{"/own/models.json": `{"providers":`}, nil)
	find(t, broken, "anthropic/claude-opus-4-5")
}

func TestKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files files
		env   map[string]string
		key   string
	}{
		"of the environment": {nil, map[string]string{"ANTHROPIC_API_KEY": "env"}, "env"},
		"of our auth.json":   {files{"/own/auth.json": `{"anthropic":{"type":"api_key","key":"own"}}`}, map[string]string{"ANTHROPIC_API_KEY": "env"}, "own"},
		"of pi's auth.json":  {files{"/pi/auth.json": `{"anthropic":{"type":"api_key","key":"pi"}}`}, nil, "pi"},
		"named by a file":    {files{"/own/auth.json": `{"anthropic":{"type":"api_key","key":"$MINE"}}`}, map[string]string{"MINE": "mine"}, "mine"},
		"a login beside one": {files{"/own/auth.json": `{"anthropic":{"type":"oauth","access":"x"}}`}, map[string]string{"ANTHROPIC_API_KEY": "env"}, "env"},
		"another type":       {files{"/own/auth.json": `{"anthropic":{"type":"cookie","key":"x"}}`}, nil, ""},
		"none":               {nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cat := open(t, c.files, c.env)
			key, err := cat.Key(t.Context(), find(t, cat, "anthropic/claude-opus-4-5"))
			assert.Equal(t, c.key, key)
			if c.key != "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, "Anthropic needs an API key.")
			requireMissing(t, err, "anthropic", "Anthropic", "ANTHROPIC_API_KEY")
			require.Equal(t, err, cat.CheckKey(find(t, cat, "anthropic/claude-opus-4-5")))
		})
	}
}

func requireMissing(t *testing.T, err error, id, name, variable string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	require.True(t, ok)
	require.Equal(t, fault.Provider, f.Kind)
	require.Equal(t, map[string]any{"reason": provider.NeedsKey, "provider": id, "providerName": name, "variable": variable}, f.Data)
}

// Commands are kept from the variables that the files name.
func TestVariablesThatFilesName(t *testing.T) {
	t.Parallel()
	c := open(t, files{
		"/own/auth.json":   `{"a":{"type":"api_key","key":"$MINE"},"b":{"type":"api_key","key":"sk-plain"},"c":{"type":"api_key","key":"!cat x"}}`,
		"/pi/auth.json":    `{"a":{"type":"api_key","key":"${THEIRS}"}}`,
		"/own/models.json": `{"providers":{"corp":{"apiKey":"CORP_LLM"},"other":{"apiKey":"MINE"},"none":{}}}`,
	}, map[string]string{"CORP_LLM": "secret", "MINE": "secret"})
	assert.Equal(t, []string{"CORP_LLM", "MINE", "THEIRS"}, c.KeyVariables())
	assert.Empty(t, open(t, files{"/own/auth.json": "{"}, nil).KeyVariables())
}

func TestModelsThatCanBeUsedComeFirst(t *testing.T) {
	t.Parallel()
	c := open(t, nil, map[string]string{"ZAI_API_KEY": "k"})
	all := c.All(t.Context())
	require.Greater(t, len(all), 1000)
	used := map[string]bool{}
	ended := false
	for _, m := range all {
		if !m.Available {
			ended = true
			continue
		}
		require.False(t, ended)
		used[m.Provider] = true
	}
	assert.Equal(t, map[string]bool{"offline": true, "zai": true}, used)
}

// Model servers on this machine are found and offered; other servers are not.
func TestLocalServers(t *testing.T) {
	t.Parallel()
	fake := providertest.New(t)
	root := strings.TrimSuffix(fake.URL(provider.OpenAICompletions), "/v1")
	fake.Script("qwen:7b", providertest.Reply{Text: "hi"})
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>login</html>"))
	}))
	t.Cleanup(page.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()

	c := open(t, nil, nil)
	c.Local = &catalog.Detector{Timeout: time.Minute, Servers: []catalog.Server{
		{Provider: "ollama", URL: root, Ollama: true},
		{Provider: "vllm", URL: root},
		{Provider: "page", URL: page.URL},
		{Provider: "gone", URL: gone.URL},
	}}
	m := find(t, c, "ollama/qwen:7b")
	assert.Equal(t, provider.OpenAICompletions, m.API)
	key, err := c.Key(t.Context(), m)
	require.NoError(t, err)
	assert.Empty(t, key, "a server of this machine needs none")
	found := map[string]bool{}
	for _, info := range c.All(t.Context()) {
		if info.Available {
			found[info.Provider] = true
		}
	}
	assert.Equal(t, map[string]bool{"offline": true, "ollama": true, "vllm": true}, found)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, ok := c.Find(ctx, provider.Ref{Provider: "ollama", ID: "qwen:7b"})
	assert.False(t, ok)
}

// A file that settings name decides about less of the environment than one of the user's own.
func TestVariablesOfADirectoryThatTheUserDidNotChoose(t *testing.T) {
	t.Parallel()
	env := map[string]string{"GITHUB_TOKEN": "secret", "AWS_SECRET_ACCESS_KEY": "secret", "ACME_API_KEY": "key", "HF_TOKEN": "key"}
	for _, value := range []string{"GITHUB_TOKEN", "$GITHUB_TOKEN", "${GITHUB_TOKEN}", "AWS_SECRET_ACCESS_KEY"} {
		for name, f := range map[string]files{
			"models.json": {"/own/models.json": `{"providers":{"acme":{"baseUrl":"https://acme.example","apiKey":"` + value + `"}}}`},
			"auth.json":   {"/own/auth.json": `{"acme":{"type":"api_key","key":"` + value + `"}}`},
		} {
			c := open(t, f, env)
			m := provider.Model{Provider: "acme", ID: "m", API: provider.OpenAICompletions, BaseURL: "https://acme.example"}
			key, err := c.Key(t.Context(), m)
			require.NoError(t, err)
			assert.Equal(t, "secret", key, "the user's own files may name any variable: %s", name)
			c.Owned = func(string) bool { return false }
			key, err = c.Key(t.Context(), m)
			require.ErrorContains(t, err, "its name does not look like an API key's")
			assert.True(t, fault.Is(err, fault.Denied))
			assert.Empty(t, key)
		}
	}
	for _, value := range []string{"ACME_API_KEY", "$HF_TOKEN", "key"} {
		c := open(t, files{"/own/auth.json": `{"acme":{"type":"api_key","key":"` + value + `"}}`}, env)
		c.Owned = func(string) bool { return false }
		key, err := c.Key(t.Context(), provider.Model{Provider: "acme", API: provider.OpenAICompletions, BaseURL: "https://acme.example"})
		require.NoError(t, err)
		assert.Equal(t, "key", key)
	}
}

// Files of a directory that may not be used count as missing, from one request to the next.
func TestADirectoryThatMayNotBeUsed(t *testing.T) {
	t.Parallel()
	c := open(t, files{
		"/own/models.json": `{"providers":{"acme":{"baseUrl":"https://evil.example","api":"openai-completions","models":[{"id":"m"}]}}}`,
		"/own/auth.json":   `{"acme":{"type":"api_key","key":"$GITHUB_TOKEN"}}`,
	}, map[string]string{"GITHUB_TOKEN": "secret"})
	usable := true
	c.Usable = func(dir string) bool { return usable || dir != "/own" }
	m := find(t, c, "acme/m")
	assert.Contains(t, c.KeyVariables(), "GITHUB_TOKEN")
	usable = false
	ref, _ := provider.ParseRef("acme/m")
	_, ok := c.Find(t.Context(), ref)
	assert.False(t, ok)
	_, err := c.Key(t.Context(), m)
	require.ErrorContains(t, err, "acme needs an API key.")
	assert.Empty(t, c.KeyVariables())
}

// The user is warned once of a key that is sent without encryption.
func TestAKeyWithoutEncryptionIsReported(t *testing.T) {
	t.Parallel()
	var reported []string
	c := open(t, files{"/own/auth.json": `{"home":{"type":"api_key","key":"k"}}`}, nil)
	c.Report = func(text string) { reported = append(reported, text) }
	for _, address := range []string{"https://home.example", "http://localhost:1/v1", "http://127.0.0.1:1", "http://[::1]:1", "http://10.0.0.1/v1?key=x", "http://10.0.0.1/v1?key=x"} {
		_, err := c.Key(t.Context(), provider.Model{Provider: "home", API: provider.OpenAICompletions, BaseURL: address})
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"The key for home is sent without encryption to http://10.0.0.1. Use an https address if the service has one."}, reported)
}
