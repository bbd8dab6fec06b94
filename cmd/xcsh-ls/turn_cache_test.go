package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// withLongCache is a machine whose model is one of a service that can keep its cache for an hour.
func withLongCache(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t, provider.AnthropicMessages)
	path := filepath.Join(m.agentDir(), "models.json")
	m.write(path, strings.Replace(m.read(path), `"id":"m"`, `"id":"m","compat":{"supportsLongCacheRetention":true}`, 1))
	m.Script("m", providertest.Reply{Text: "ok"})
	return m
}

// The cache is kept for longer only at the user's request: it costs more.
func TestCacheRetention(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		option, variable string
		long             bool
	}{
		"default":                       {"", "", false},
		"the variable":                  {"", "long", true},
		"the variable, another value":   {"", "short", false},
		"the option":                    {"long", "", true},
		"the option overrides the rest": {"short", "long", false},
		"auto":                          {"auto", "long", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := withLongCache(t)
			cmd := m.command("--stdio")
			cmd.Env = append(cmd.Env, "PI_CACHE_RETENTION="+c.variable)
			ed := lsptest.StartProcess(t, cmd)
			ed.Initialize(lsptest.Fields{
				"initializationOptions": lsptest.Fields{"model": "fake/m", "cacheRetention": c.option},
				"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
				"capabilities":          lsptest.Fields{},
			})
			_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
			require.Nil(t, failure)
			body := m.Requests()[0].Body
			require.True(t, json.Valid(body))
			require.Contains(t, string(body), `"cache_control":{"type":"ephemeral"`)
			require.Equal(t, c.long, strings.Contains(string(body), `"ttl":"1h"`))
		})
	}
}
