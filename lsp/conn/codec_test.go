package conn

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

func TestCodecPassesJSONThrough(t *testing.T) {
	t.Parallel()
	for name, raw := range rawValues {
		for _, v := range []any{json.RawMessage(raw), jsonrpc2.RawMessage(raw), jsontext.Value(raw)} {
			got, err := codec{}.Marshal(v)
			require.NoError(t, err, name)
			require.Equal(t, raw, string(got), name)
		}
		var a json.RawMessage
		var b jsonrpc2.RawMessage
		var c jsontext.Value
		for _, v := range []any{&a, &b, &c} {
			require.NoError(t, codec{}.Unmarshal([]byte(raw), v))
		}
		require.Equal(t, []string{raw, raw, raw}, []string{string(a), string(b), string(c)})
	}
	got, err := codec{}.Marshal(json.RawMessage(nil))
	require.NoError(t, err)
	require.Equal(t, "null", string(got))
}

// Only the protocol package's codec supports unions and optional fields.
func TestCodecKnowsTheProtocolsTypes(t *testing.T) {
	t.Parallel()
	in := protocol.ProgressParams{Token: protocol.String("t"), Value: protocol.LSPAny(`{"kind":"end"}`)}
	raw, err := codec{}.Marshal(&in)
	require.NoError(t, err)
	require.JSONEq(t, `{"token":"t","value":{"kind":"end"}}`, string(raw))
	var out protocol.ProgressParams
	require.NoError(t, codec{}.Unmarshal(raw, &out))
	require.Equal(t, in.Token, out.Token)
}

func TestEncodeJSON(t *testing.T) {
	t.Parallel()
	raw, err := EncodeJSON(map[string]any{"a": "<&>\u2028", "b": json.RawMessage("\"\xff\"")})
	require.NoError(t, err)
	require.True(t, json.Valid(raw))
	require.Contains(t, string(raw), `<&>`)
	require.Contains(t, string(raw), "\uFFFD")
	_, err = EncodeJSON(make(chan int))
	require.Error(t, err)
}

// rawValues are contents of sessions that a strict encoder would reject.
var rawValues = map[string]string{
	"lone surrogate": `"\ud800 and \uDFFF"`,
	"duplicate keys": `{"a":1,"a":2}`,
	"huge number":    `123456789012345678901234567890.5e400`,
	"invalid UTF-8":  "\"\xff\xfe and \xc3\"",
	"markup":         `"<b> & </b>"`,
	"null":           `null`,
	"broken":         `{`,
}
