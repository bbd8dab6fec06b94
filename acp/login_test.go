package acp_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/acp"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The protocol permits the terminal method only for clients that can run it. Clients that announced that before the
// protocol had a place for it get the whole command, and no argument of it is lost.
func TestAuthMethods(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		capabilities object
		engine       string
		ids, args    []any
		old          bool
	}{
		"no terminal":                   {object{"terminal": true, "auth": object{"terminal": false}}, "", []any{"stored-key"}, nil, false},
		"odd capabilities":              {object{"auth": object{"terminal": "yes"}, "_meta": []any{}}, "", []any{"stored-key"}, nil, false},
		"a terminal":                    {object{"auth": object{"terminal": true}}, "", []any{"login", "stored-key"}, []any{"login"}, false},
		"a terminal, announced in 2025": {object{"_meta": object{"terminal-auth": true}}, "", []any{"login", "stored-key"}, []any{"login"}, true},
		"the login of another agent":    {object{"auth": object{"terminal": true}}, "pi", []any{"login", "stored-key"}, []any{"login", "pi"}, false},
		"our own agent":                 {object{"auth": object{"terminal": true}}, "own", []any{"login", "stored-key"}, []any{"login"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newWorld(t).start(t, func(o *acp.Options) { o.Engine = c.engine })
			result := client.ok("initialize", object{"protocolVersion": 1, "clientCapabilities": c.capabilities})
			var ids []any
			for _, m := range result["authMethods"].([]any) {
				method := m.(object)
				ids = append(ids, method["id"])
				require.NotEmpty(t, method["name"])
				require.NotEmpty(t, method["description"])
				if method["id"] != "login" {
					require.NotContains(t, method, "type") // it is the agent's own, which is the default
					continue
				}
				require.Equal(t, "terminal", method["type"])
				require.Equal(t, c.args, method["args"])
				if !c.old {
					require.NotContains(t, method, "_meta")
					continue
				}
				require.Equal(t, object{"terminal-auth": object{"label": "xcsh-ls login", "command": program, "args": c.args}}, method["_meta"])
			}
			require.Equal(t, c.ids, ids)
		})
	}
}

// authenticate reports whether a prompt could be answered, before and after a session is open.
func TestAuthenticate(t *testing.T) {
	t.Parallel()
	missing := fault.New(fault.Provider, "P needs an API key.").With("reason", provider.NeedsKey).With("provider", "p")
	stored := object{"methodId": "stored-key"}
	for name, c := range map[string]struct {
		model   string
		key     error
		sources []provider.Source
		engine  string
		refused string
	}{
		"the model has a key":        {model: "p/m"},
		"the model has no key":       {model: "p/m", key: missing, refused: "P needs an API key. Run 'xcsh-ls login p' in a terminal"},
		"there is no model at all":   {refused: "No model can be used yet."},
		"only the demo is ready":     {sources: []provider.Source{{ID: "offline", Ready: true, Kind: provider.DemoSource}}, refused: "No model can be used yet."},
		"a local server runs":        {sources: []provider.Source{{ID: "p", Ready: true, Kind: provider.LocalSource, Default: "p/m"}}},
		"the user can choose models": {sources: []provider.Source{{ID: "p", Ready: true}, {ID: "q", Ready: true}}},
		"another agent answers":      {model: "p/m", key: missing, engine: "pi"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.model, w.models.key, w.models.sources = c.model, c.key, c.sources
			client := w.start(t, func(o *acp.Options) { o.Engine = c.engine })
			client.ok("initialize", object{"protocolVersion": 1})
			if c.refused != "" {
				client.refused("authenticate", stored, -32000, c.refused)
				return
			}
			require.Empty(t, client.ok("authenticate", stored))
		})
	}

	w := newWorld(t)
	w.models.key = missing
	c := w.connect(t, object{})
	c.refused("authenticate", object{"methodId": "login"}, -32602, `There is no authentication method "login".`) // it was not offered
	c.refused("authenticate", object{"methodId": 5}, -32602, `the parameter "methodId" has the wrong type`)
	c.open()
	c.refused("authenticate", stored, -32000, "P needs an API key.")
	w = newWorld(t)
	c = w.connect(t, object{"auth": object{"terminal": true}})
	c.open()
	require.Empty(t, c.ok("authenticate", object{"methodId": "login"}))
}
