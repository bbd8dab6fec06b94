package lsp_test

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

func TestCodecPassesJSONThrough(t *testing.T) {
	t.Parallel()
	for name, raw := range rawValues {
		for _, v := range []any{json.RawMessage(raw), jsonrpc2.RawMessage(raw), jsontext.Value(raw)} {
			got, err := lsp.Codec{}.Marshal(v)
			require.NoError(t, err, name)
			require.Equal(t, raw, string(got), name)
		}
		var a json.RawMessage
		var b jsonrpc2.RawMessage
		var c jsontext.Value
		for _, v := range []any{&a, &b, &c} {
			require.NoError(t, lsp.Codec{}.Unmarshal([]byte(raw), v))
		}
		require.Equal(t, []string{raw, raw, raw}, []string{string(a), string(b), string(c)})
	}
	got, err := lsp.Codec{}.Marshal(json.RawMessage(nil))
	require.NoError(t, err)
	require.Equal(t, "null", string(got))
}

// Unions and optional fields exist for the protocol package's codec only.
func TestCodecKnowsTheProtocolsTypes(t *testing.T) {
	t.Parallel()
	in := protocol.ProgressParams{Token: protocol.String("t"), Value: protocol.LSPAny(`{"kind":"end"}`)}
	raw, err := lsp.Codec{}.Marshal(&in)
	require.NoError(t, err)
	require.JSONEq(t, `{"token":"t","value":{"kind":"end"}}`, string(raw))
	var out protocol.ProgressParams
	require.NoError(t, lsp.Codec{}.Unmarshal(raw, &out))
	require.Equal(t, in.Token, out.Token)
}

func TestEncodeJSON(t *testing.T) {
	t.Parallel()
	raw, err := lsp.EncodeJSON(map[string]any{"a": "<&>\u2028", "b": json.RawMessage("\"\xff\"")})
	require.NoError(t, err)
	require.True(t, json.Valid(raw))
	require.Contains(t, string(raw), `<&>`)
	require.Contains(t, string(raw), "\uFFFD")
	_, err = lsp.EncodeJSON(make(chan int))
	require.Error(t, err)
}
