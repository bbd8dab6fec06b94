package serving

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/asking"
	"github.com/xcsh-ls/xcsh-ls/agent/mcp"
)

// The question of a server becomes a form that names it, and the answers become values of the types that it asked for.
func TestTheFormOfAServersQuestion(t *testing.T) {
	t.Parallel()
	f, err := formOf(mcp.Question{Server: "docs", Message: "Which\x1b[31m one?", Schema: []byte(`{"type":"object","required":["name","level"],"properties":{
		"name":{"type":"string","title":"Your name","description":"As in the passport","default":"Ada"},
		"level":{"type":"string","enum":["a","b"],"enumNames":["Low","High"]},
		"titled":{"oneOf":[{"const":"x","title":"The X"},{"const":"y","title":"The X"}]},
		"count":{"type":"integer","default":3},"ratio":{"type":"number"},"sure":{"type":"boolean"},
		"many":{"type":"array","items":{"type":"string","enum":["p","q"]}}}}`)})
	require.NoError(t, err)
	require.Equal(t, asking.Server, f.From)
	require.Contains(t, f.Message, "The MCP server docs asks: Which")
	require.NotContains(t, f.Message, "\x1b")
	fields := map[string]asking.Field{}
	for _, field := range f.Fields {
		fields[field.ID] = field
	}
	require.Equal(t, asking.Field{ID: "name", Title: "Your name: As in the passport", Kind: asking.Text, Initial: "Ada"}, fields["name"])
	require.Equal(t, []asking.Option{{Label: "Low"}, {Label: "High"}}, fields["level"].Options)
	require.Equal(t, []asking.Option{{Label: "The X"}, {Label: "The X (y)"}}, fields["titled"].Options)
	require.True(t, fields["many"].Multi)
	require.True(t, fields["sure"].Optional)
	require.False(t, fields["level"].Optional)
	require.Equal(t, "3", fields["count"].Initial)

	answer := f.answer(asking.Answers{List: []asking.Answer{
		{ID: "name", Custom: "Bo"},
		{ID: "level", Selected: []string{"High"}},
		{ID: "titled", Selected: []string{"The X (y)"}},
		{ID: "count", Custom: "7"},
		{ID: "ratio", Custom: "0.5"},
		{ID: "sure", Selected: []string{"false"}},
		{ID: "many", Selected: []string{"p", "q"}},
		{ID: "unknown", Custom: "x"},
	}})
	require.Equal(t, "accept", answer.Action)
	raw, err := json.Marshal(answer.Content)
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"Bo","level":"b","titled":"y","count":7,"ratio":0.5,"sure":false,"many":["p","q"]}`, string(raw))
	require.Equal(t, "decline", f.answer(asking.Answers{Declined: true}).Action)
	require.Equal(t, "cancel", f.answer(asking.Answers{Cancelled: true}).Action)
	require.Empty(t, f.answer(asking.Answers{List: []asking.Answer{{ID: "name"}}}).Content, "a field that was left out")
}

// A question without inputs is one for a confirmation.
func TestAQuestionWithoutInputs(t *testing.T) {
	t.Parallel()
	f, err := formOf(mcp.Question{Server: "docs", Message: "Delete it?", Schema: []byte(`{"type":"object","properties":{}}`)})
	require.NoError(t, err)
	require.Equal(t, "accept", f.answer(asking.Answers{List: []asking.Answer{{ID: confirmation, Selected: []string{yes}}}}).Action)
	require.Equal(t, "decline", f.answer(asking.Answers{List: []asking.Answer{{ID: confirmation, Selected: []string{no}}}}).Action)
	for _, hostile := range []string{`5`, `{"properties":{"a":5}}`, `{"properties":[]}`} {
		_, err := formOf(mcp.Question{Server: "docs", Message: "?", Schema: []byte(hostile)})
		require.Error(t, err, hostile)
	}
}
