package strict_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/strict"
)

func TestOptionalMembersMayBeNullInstead(t *testing.T) {
	t.Parallel()
	const loose = `{"type":"object","properties":{
		"path":{"type":"string","description":"<p>"},
		"limit":{"type":"integer"},
		"edits":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"boolean"}},"required":["b"],"additionalProperties":false}}
	},"required":["path","edits"],"additionalProperties":false}`
	got, ok := strict.Schema(json.RawMessage(loose))
	require.True(t, ok)
	require.Equal(t, `{"type":"object","properties":{`+
		`"path":{"type":"string","description":"<p>"},`+
		`"limit":{"type":["integer","null"]},`+
		`"edits":{"type":"array","items":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":["boolean","null"]}},"required":["b","a"],"additionalProperties":false}}`+
		`},"required":["path","limit","edits"],"additionalProperties":false}`, string(got), "in the same order")
	got, ok = strict.Closed(json.RawMessage(loose))
	require.True(t, ok)
	require.JSONEq(t, loose, string(got))
}

func TestObjectsAreClosed(t *testing.T) {
	t.Parallel()
	for _, form := range []func(json.RawMessage) (json.RawMessage, bool){strict.Schema, strict.Closed} {
		got, ok := form(json.RawMessage(`{"type":"object"}`))
		require.True(t, ok)
		require.Equal(t, `{"type":"object","properties":{},"required":[],"additionalProperties":false}`, string(got))
	}
}

func TestSchemasThatCannotBeEnforced(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"no JSON":               `{"type":`,
		"null":                  `null`,
		"a string":              `{"type":"string"}`,
		"any members":           `{"type":"object","additionalProperties":true}`,
		"members of a type":     `{"type":"object","additionalProperties":{"type":"string"}}`,
		"a keyword":             `{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`,
		"a member of no type":   `{"type":"object","properties":{"a":{}}}`,
		"an optional choice":    `{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}`,
		"properties are a list": `{"type":"object","properties":[]}`,
		"too deep":              strings.Repeat(`{"type":"object","properties":{"a":`, 20) + `{"type":"string"}` + strings.Repeat(`}}`, 20),
		"endless":               strings.Repeat(`{"type":"array","items":`, 100_000),
	} {
		_, ok := strict.Schema(json.RawMessage(schema))
		require.False(t, ok, name)
	}
}
