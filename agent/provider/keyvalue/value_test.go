package keyvalue_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyvalue"
)

func TestTemplates(t *testing.T) {
	t.Parallel()
	env := map[string]string{"X": "x", "LONG_NAME2": "long"}
	for raw, want := range map[string]string{
		"": "", "sk-1": "sk-1", "$X": "x", "${X}": "x", "a${X}b": "axb", "$X-$X": "x-x", "Bearer ${LONG_NAME2}": "Bearer long",
		"$$X": "$X", "$$": "$", "$!echo": "!echo", "a$!b": "a!b", "$": "$", "a$": "a$", "$1": "$1", "${": "${", "${X": "${X", "${a b}": "${a b}",
		"${}": "${}", "$$$X": "$x", "X": "X", "${LONG_NAME2}s": "longs", "é$X": "éx",
	} {
		v := keyvalue.Parse(raw)
		got, ok := v.Expand(func(name string) string { return env[name] })
		require.True(t, ok, raw)
		require.Equal(t, want, got, raw)
		require.Empty(t, v.Command, raw)
	}
	for _, raw := range []string{"$UNSET", "a${UNSET}b", "$X$UNSET"} {
		_, ok := keyvalue.Parse(raw).Expand(func(name string) string { return env[name] })
		require.False(t, ok, raw)
	}
	require.Equal(t, []string{"A", "B"}, keyvalue.Parse("$B-${A}-$B-$$C").Variables())
	require.Equal(t, "A_B", keyvalue.Parse("A_B").Bare())
	for _, raw := range []string{"$A", "a-b", "", "A$$", "!A"} {
		require.Empty(t, keyvalue.Parse(raw).Bare(), raw)
	}
	require.Equal(t, "pass show x $Y", keyvalue.Parse("!pass show x $Y").Command)
	require.Empty(t, keyvalue.Parse("!pass").Variables())
}

func FuzzTemplates(f *testing.F) {
	for _, seed := range []string{"$X", "${X}", "a$$b", "$!", "!c", "${", "$\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		v := keyvalue.Parse(raw)
		text, ok := v.Expand(func(name string) string { return "$" + name })
		require.True(t, ok)
		require.LessOrEqual(t, len(text), len(raw))
	})
}
