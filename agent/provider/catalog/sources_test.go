package catalog_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Every service of the catalogue has a name, and a model to begin with that exists.
func TestServicesOfTheCatalogue(t *testing.T) {
	t.Parallel()
	models, ids := map[string]bool{}, map[string]bool{}
	for _, m := range catalog.Embedded().Models {
		models[m.Ref().String()], ids[m.Provider] = true, true
	}
	for _, ref := range catalog.Flagships() {
		require.True(t, models[ref], ref)
		id, _, _ := strings.Cut(ref, "/")
		delete(ids, id)
	}
	require.Empty(t, ids, "services without a name")
	for _, s := range open(t, nil, nil).Sources(t.Context()) {
		require.NotEmpty(t, s.Name)
		require.Positive(t, s.Models)
		if s.KeyPage != "" {
			require.True(t, strings.HasPrefix(s.KeyPage, "https://"), s.KeyPage)
		}
	}
}

func idsOf(sources []provider.Source) []string {
	var list []string
	for _, s := range sources {
		list = append(list, s.ID)
	}
	return list
}

// Servers that answer come first, then services that are ready, the well-known ones, the others by name, and the demo.
func TestTheOrderOfSources(t *testing.T) {
	t.Parallel()
	ollama := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/api/tags" {
			_, _ = w.Write([]byte(`{"models":[{"name":"qwen:7b"},{"name":"\u202ellama"}]}`))
			return
		}
		_, _ = w.Write([]byte(`{"models":[]}`))
	}))
	t.Cleanup(ollama.Close)
	c := open(t, files{
		"/own/auth.json":   `{"zai":{"type":"api_key","key":"the-secret"},"openai":{"type":"oauth","access":"the-secret"}}`,
		"/own/models.json": `{"providers":{"corp":{"baseUrl":"https://corp.example","api":"openai-completions","apiKey":"the-secret","models":[{"id":"b"},{"id":"a"}]}}}`,
	}, map[string]string{"GEMINI_API_KEY": "the-secret"})
	c.Local = &catalog.Detector{Timeout: time.Minute, Servers: []catalog.Server{{Provider: "ollama", URL: ollama.URL, Ollama: true}}}
	c.Kept = kept{"groq": "the-secret"}
	sources := c.Sources(t.Context())
	require.Equal(t, []provider.Source{
		{ID: "ollama", Name: "Ollama", Kind: provider.LocalSource, Ready: true, Models: 2},
		{
			ID: "google", Name: "Google Gemini", Kind: provider.ServiceSource, Ready: true, KeySource: provider.EnvironmentKey, Variable: "GEMINI_API_KEY",
			KeyPage: "https://aistudio.google.com/apikey", Models: 23, Default: "google/gemini-3.1-pro-preview",
		},
		{
			ID: "groq", Name: "Groq", Kind: provider.ServiceSource, Ready: true, KeySource: provider.ClientKey, Variable: "GROQ_API_KEY",
			KeyPage: "https://console.groq.com/keys", Models: 7, Default: "groq/openai/gpt-oss-120b",
		},
		{
			ID: "zai", Name: "Z.ai", Kind: provider.ServiceSource, Ready: true, KeySource: provider.AuthFileKey, Variable: "ZAI_API_KEY",
			KeyPage: "https://z.ai/manage-apikey/apikey-list", Models: 7, Default: "zai/glm-5.3",
		},
		{ID: "corp", Name: "corp", Kind: provider.ServiceSource, Ready: true, KeySource: provider.ModelsFileKey, Variable: "CORP_API_KEY", Models: 2, Default: "corp/b"},
	}, sources[:5])
	require.Equal(t, []string{"anthropic", "openai", "openrouter", "deepseek", "xai", "amazon-bedrock"}, idsOf(sources[5:11]))
	require.Equal(t, provider.Source{ID: "offline", Name: "Offline demo", Kind: provider.DemoSource, Ready: true, Models: 1, Default: "offline/demo"}, sources[len(sources)-1])
}

// kept are keys that a client keeps; "" is an error.
type kept map[string]string

func (k kept) Has(provider string) bool { _, has := k[provider]; return has }

func (k kept) Key(_ context.Context, provider string) (string, error) {
	if k[provider] == "" {
		return "", errors.New("the keyring with the-secret is locked")
	}
	return strings.TrimPrefix(k[provider], "none"), nil
}

// The client's key comes first, is used as it is, and is checked. A client that has none any more leaves the choice to the files.
func TestKeysOfTheClient(t *testing.T) {
	t.Parallel()
	c := open(t, files{"/own/auth.json": `{"anthropic":{"type":"api_key","key":"own"}}`}, map[string]string{"HOME": "/home/u"})
	m := find(t, c, "anthropic/claude-opus-4-5")
	for given, want := range map[string]string{"sk-1": "sk-1", "HOME": "HOME", "none": "own"} {
		c.Kept = kept{"anthropic": given}
		key, err := c.Key(t.Context(), m)
		require.NoError(t, err)
		require.Equal(t, want, key)
	}
	for _, given := range []string{"", "the-secret\nX-Other: 1", "!the-secret", "the secret", strings.Repeat("the-secret", 10_000)} {
		c.Kept = kept{"anthropic": given}
		require.NoError(t, c.CheckKey(m), "it is not asked")
		_, err := c.Key(t.Context(), m)
		require.Equal(t, provider.NeedsKey, provider.NeedOf(err))
		require.NotContains(t, err.Error(), "the-secret")
		require.True(t, fault.Is(err, fault.Provider))
	}
	c.Kept = kept{"openai": "sk-1"}
	key, err := c.Key(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, "own", key, "a key goes to its own provider only")
	require.Empty(t, c.KeyVariables())
}
