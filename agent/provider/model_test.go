package provider_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// the highest supported level that is not above the request, else the lowest.
// Proves: X-205
func TestClamp(t *testing.T) {
	t.Parallel()
	word := "x"
	thinks := provider.Model{Reasoning: true}
	for name, c := range map[string]struct {
		model      provider.Model
		want, then provider.Level
	}{
		"supported":                     {thinks, provider.High, provider.High},
		"off stays off":                 {thinks, provider.Off, provider.Off},
		"needs an entry of the catalog": {thinks, provider.Max, provider.High},
		"has it":                        {provider.Model{Reasoning: true, ThinkingLevelMap: map[provider.Level]*string{provider.Max: &word}}, provider.Max, provider.Max},
		"the next lower":                {provider.Model{Reasoning: true, ThinkingLevelMap: map[provider.Level]*string{provider.Medium: nil}}, provider.Medium, provider.Low},
		"none lower":                    {provider.Model{Reasoning: true, ThinkingLevelMap: map[provider.Level]*string{provider.Off: nil, provider.Minimal: nil, provider.Low: nil}}, provider.Minimal, provider.Medium},
		"cannot be off":                 {provider.Model{Reasoning: true, ThinkingLevelMap: map[provider.Level]*string{provider.Off: nil}}, provider.Off, provider.Minimal},
		"thinking is not turned off":    {provider.Model{Reasoning: true, ThinkingLevelMap: map[provider.Level]*string{provider.Minimal: nil}}, provider.Minimal, provider.Low},
		"does not think":                {provider.Model{}, provider.High, provider.Off},
		"an unknown level":              {thinks, "enormous", provider.Medium},
	} {
		assert.Equal(t, c.then, c.model.Clamp(c.want), name)
	}
}

func TestPrice(t *testing.T) {
	t.Parallel()
	m := provider.Model{Cost: &provider.Cost{Input: 1, Output: 10, CacheRead: 0.1, CacheWrite: 2, Tiers: []provider.CostTier{
		{InputTokensAbove: 1000, Input: 2, Output: 20, CacheRead: 0.2, CacheWrite: 4}, {InputTokensAbove: 500, Input: 5, Output: 5, CacheRead: 5, CacheWrite: 5},
	}}}
	cost, known := m.Price(provider.Usage{Input: 100, Output: 100, CacheRead: 100, CacheWrite: 100})
	assert.True(t, known)
	assert.InDelta(t, (100+1000+10+200)/1e6, cost.Total, 1e-12)
	cost, _ = m.Price(provider.Usage{Input: 900, Output: 100, CacheRead: 200})
	assert.InDelta(t, (1800+2000+40)/1e6, cost.Total, 1e-12, "the highest tier that is reached")
	_, known = provider.Model{}.Price(provider.Usage{Input: 1})
	assert.False(t, known, "unknown is not free")
}

func TestParseRef(t *testing.T) {
	t.Parallel()
	ref, ok := provider.ParseRef("openrouter/meta/llama")
	assert.True(t, ok)
	assert.Equal(t, provider.Ref{Provider: "openrouter", ID: "meta/llama"}, ref)
	for _, bad := range []string{"", "x", "/x", "x/"} {
		_, ok := provider.ParseRef(bad)
		assert.False(t, ok, bad)
	}
}

// Other programs rely on the members that belong to a block, empty or not.
func TestEncodeKeepsEmptyMembers(t *testing.T) {
	t.Parallel()
	no := false
	m := provider.Message{Role: provider.RoleToolResult, Content: []provider.Block{
		provider.Text(""), {Type: provider.TypeThinking}, {Type: provider.TypeToolCall, ID: "1", Name: "ls", Arguments: []byte(`{}`)}, {Type: provider.TypeToolCall, ID: "2", Name: "ls"},
	}, IsError: &no, Details: []byte(`{}`)}
	assert.Equal(t, `{"role":"toolResult","content":[{"type":"text","text":""},{"type":"thinking","thinking":""},`+
		`{"type":"toolCall","id":"1","name":"ls","arguments":{}},{"type":"toolCall","id":"2","name":"ls","arguments":{}}],`+
		`"details":{},"isError":false,"timestamp":0}`, string(m.Encode()))
	back, err := provider.DecodeMessage(m.Encode())
	require.NoError(t, err)
	assert.Equal(t, m.Content[2], back.Content[2])
}
