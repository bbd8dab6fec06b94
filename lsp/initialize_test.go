package lsp_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// A list of commands that is JSON already is sent like any other, with the standard capabilities.
func TestTheListOfCommandsMayBeJSON(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]any{
		"a value": []map[string]string{{"name": "test.echo"}},
		"JSON":    json.RawMessage("[\n{\"name\": \"test.echo\"}\n]\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.options.Manifest = list
			var result struct {
				Capabilities struct {
					PositionEncoding string                     `json:"positionEncoding"`
					Experimental     map[string]json.RawMessage `json:"experimental"`
				} `json:"capabilities"`
				ServerInfo struct {
					Version string `json:"version"`
				} `json:"serverInfo"`
			}
			raw := lsptest.Start(t, f.options).Initialize(nil)
			require.NotContains(t, string(raw), "\n")
			require.NoError(t, json.Unmarshal(raw, &result))
			require.Equal(t, "utf-16", result.Capabilities.PositionEncoding)
			require.Equal(t, "1.2.3", result.ServerInfo.Version)
			require.Len(t, result.Capabilities.Experimental, 1)
			var own lsp.Experimental
			require.NoError(t, json.Unmarshal(result.Capabilities.Experimental["xcsh"], &own))
			require.Equal(t, lsp.Experimental{WireVersion: lsp.WireVersion, Commands: []any{map[string]any{"name": "test.echo"}}}, own)
		})
	}
}
