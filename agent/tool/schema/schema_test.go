package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/schema"
)

// Models of oh-my-pi and xcsh describe each call in a parameter, which only a tool that has it gets.
func TestTheIntentOfACallIsDropped(t *testing.T) {
	t.Parallel()
	for parameters, want := range map[string]string{
		`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`: `{"text":"x"}`,
		`{"type":"object","properties":{"text":{"type":"string"},"i":{"type":"string"}}}`:                            `{"i":"look","text":"x"}`,
	} {
		p, err := schema.New("t", json.RawMessage(parameters))
		require.NoError(t, err)
		line, err := p.Check(json.RawMessage(`{"text":"x","i":"look","_i":"look"}`))
		require.NoError(t, err)
		require.Equal(t, want, string(line))
	}
}
