package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/catalog"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/guard"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// ownTools are the tools of the program.
func ownTools() (tools []provider.Tool) {
	for _, t := range tool.All(tool.Options{}) {
		tools = append(tools, t.Tool)
	}
	return tools
}

// The fake services check strict schemas as the real ones do.
func TestOwnToolsAreEnforcedWhereTheCatalogueSaysSo(t *testing.T) {
	t.Parallel()
	for _, api := range []provider.API{provider.OpenAICompletions, provider.OpenAIResponses} {
		_, m := send(t, api, func(req *provider.Request) {
			req.Tools, req.Model.Compat = ownTools(), json.RawMessage(`{"supportsStrictMode":true}`)
		})
		var tools []struct {
			Strict   bool
			Function struct{ Strict bool }
		}
		require.NoError(t, json.Unmarshal(m["tools"], &tools))
		require.Len(t, tools, len(ownTools()))
		for _, one := range tools {
			require.True(t, one.Strict || one.Function.Strict, "%s", m["tools"])
		}
		require.Contains(t, string(m["tools"]), `"type":["integer","null"]`)
		_, m = send(t, api, func(req *provider.Request) { req.Tools = ownTools() })
		require.NotContains(t, string(m["tools"]), `"null"`, "a service of which nothing is known")
		require.NotContains(t, string(m["tools"]), `"strict":true`)
	}
	for id, enforced := range map[string]bool{"openai/gpt-5": true, "google/gemini-3": false, "anthropic/claude-opus-5": false} {
		m := body(t, provider.OpenAICompletions, false, func(req *provider.Request) {
			req.Tools, req.Model.Provider, req.Model.Compat = ownTools(), "openrouter", json.RawMessage(`{"supportsStrictMode":true}`)
			req.Model.ID = id
		})
		require.Equal(t, enforced, strings.Contains(string(m["tools"]), `"strict":true`), "OpenRouter, %s", id)
	}
	known := map[string]bool{}
	for _, m := range catalog.Embedded().Models {
		var c struct {
			SupportsStrictMode bool `json:"supportsStrictMode"`
		}
		if m.Provider == "openai" && json.Unmarshal(m.Compat, &c) == nil && c.SupportsStrictMode {
			known[m.ID] = true
		}
	}
	require.True(t, known["gpt-5.4"] && known["gpt-4.1"], "%v", known)
}

// A service that cannot enforce the tools answers all the same, and is not asked again.
func TestAServiceThatRefusesStrictTools(t *testing.T) {
	t.Parallel()
	for _, api := range []provider.API{provider.OpenAICompletions, provider.OpenAIResponses} {
		s := providertest.New(t)
		s.Script("m", providertest.Reply{Text: "ok"})
		s.Limit("m", providertest.Limits{NoStrict: true})
		service := client(api, guard.Options{})
		req := provider.Request{Model: s.Model(api, "m"), Messages: []provider.Message{userMessage("Hello")}, Tools: ownTools()}
		req.Model.Compat = json.RawMessage(`{"supportsStrictMode":true}`)
		for range 2 {
			o := providertest.Collect(t, service.Stream(t.Context(), req))
			require.Nil(t, o.Err, "%v", o.Err)
		}
		require.Len(t, s.Requests(), 3)
		require.Contains(t, string(s.Requests()[0].Body), `"strict":true`)
		require.NotContains(t, string(s.Requests()[1].Body), `"strict":true`)
		require.Equal(t, string(s.Requests()[1].Body), string(s.Requests()[2].Body))
	}
}

// Another refusal is reported and not tried again.
func TestARefusalForAnotherReasonIsFinal(t *testing.T) {
	t.Parallel()
	s := providertest.New(t)
	s.Script("m", providertest.Reply{Fault: providertest.NoCredit})
	req := provider.Request{Model: s.Model(provider.OpenAIResponses, "m"), Messages: []provider.Message{userMessage("Hello")}, Tools: ownTools()}
	req.Model.Compat = json.RawMessage(`{"supportsStrictMode":true}`)
	o := providertest.Collect(t, client(provider.OpenAIResponses, guard.Options{}).Stream(t.Context(), req))
	require.NotNil(t, o.Err)
	require.Len(t, s.Requests(), 1)
}

// body is the request of a client to OpenAI's own service, or to another one. It is not sent.
func body(t *testing.T, api provider.API, official bool, change func(*provider.Request)) (members map[string]json.RawMessage) {
	t.Helper()
	req := provider.Request{Model: provider.Model{API: api, Provider: "p"}, Messages: []provider.Message{userMessage("Hello")}}
	if !official {
		req.Model.BaseURL = "http://gateway.example/v1"
	}
	change(&req)
	var f fixed
	providertest.Collect(t, client(api, guard.Options{Transport: &f}).Stream(t.Context(), req))
	raw, err := f.sent.GetBody()
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(raw).Decode(&members))
	return members
}

func TestLongCacheRetention(t *testing.T) {
	t.Parallel()
	const day, explicit = `"24h"`, `{"ttl":"30m"}`
	for name, c := range map[string]struct {
		id, compat string
		official   bool
		retention  string
		options    string
	}{
		"an older model":              {id: "gpt-5.4-mini", official: true, retention: day},
		"the first one":               {id: "gpt-4.1", official: true, retention: day},
		"before it":                   {id: "gpt-4o", official: true},
		"another family":              {id: "o3", official: true},
		"a newer model":               {id: "gpt-5.6-sol", compat: `{"supportsExplicitPromptCacheMode":true}`, official: true, options: explicit},
		"a newer one, not catalogued": {id: "gpt-7", official: true},
		"another service":             {id: "gpt-5.4"},
		"one that supports it":        {id: "x", compat: `{"supportsLongCacheRetention":true}`, retention: day},
		"one that does not":           {id: "gpt-5.4", compat: `{"supportsLongCacheRetention":false}`, official: true},
	} {
		for _, api := range []provider.API{provider.OpenAICompletions, provider.OpenAIResponses} {
			m := body(t, api, c.official, func(req *provider.Request) {
				req.Model.ID, req.Model.Compat, req.LongCache = c.id, json.RawMessage(c.compat), true
			})
			require.Equal(t, c.retention, string(m["prompt_cache_retention"]), "%s: %s", name, api)
			require.Equal(t, c.options, string(m["prompt_cache_options"]), "%s: %s", name, api)
			m = body(t, api, c.official, func(req *provider.Request) { req.Model.ID, req.Model.Compat = c.id, json.RawMessage(c.compat) })
			require.NotContains(t, m, "prompt_cache_retention", name)
			require.NotContains(t, m, "prompt_cache_options", name)
		}
	}
	m := body(t, provider.OpenAICompletions, false, func(req *provider.Request) {
		req.System, req.LongCache = "sys", true
		req.Model.Compat = json.RawMessage(`{"cacheControlFormat":"anthropic","supportsLongCacheRetention":true}`)
	})
	require.Contains(t, string(m["messages"]), `{"type":"ephemeral","ttl":"1h"}`)
	require.NotContains(t, m, "prompt_cache_retention")
}
