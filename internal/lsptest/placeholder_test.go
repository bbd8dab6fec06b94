package lsptest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		want, got string
		match     bool
	}{
		{`"a-<digits>-<hex>.md"`, `"a-12-0af.md"`, true},
		{`"a-<digits>-<hex>.md"`, `"a-12-0ag.md"`, false},
		{`"a-<digits>"`, `"a-"`, false},
		{`"<digits>"`, `12`, false},
		{`"<number>"`, `12`, true},
		{`"<number>"`, `"12"`, false},
		{`"In <path>/a.md, save"`, `"In /tmp/x/a.md, save"`, true},
		{`"In <path>/a.md, save"`, `"In /tmp/x y/a.md, save"`, false},
		{`"<time>"`, `"2026-01-01T00:00:00.000Z"`, true},
		{`"<time>"`, `"2026-01-01T00:00:00.000Z\n"`, false},
		{`"<any>"`, `"x"`, false},
		{`"<b>.<b>"`, `"<b>.<b>"`, true},
		{`"<b>.<b>"`, `"<b>x<b>"`, false},
		{`{"a":["<digits>"]}`, `{"a":["1"]}`, true},
		{`{"a":["<digits>"]}`, `{"a":["1","2"]}`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`null`, `false`, false},
		{`{"$file":"none"}`, `1`, false},
	} {
		require.Equal(t, tc.match, values{t.TempDir()}.matches(tc.want, tc.got), "%s %s", tc.want, tc.got)
	}
}

func TestNamedValues(t *testing.T) {
	t.Parallel()
	v := values{t.TempDir()}
	for name, text := range map[string]string{"outer": `{"a":"<digits>","b":{"$file":"inner"}}`, "inner": `[1]`} {
		require.NoError(t, os.WriteFile(filepath.Join(v.dir, name+".json"), []byte(text), 0o600))
	}
	require.True(t, v.matches(`{"result":{"$file":"outer"}}`, `{"result":{"a":"7","b":[1]}}`))
	require.False(t, v.matches(`{"result":{"$file":"inner"}}`, `{"result":{"a":"7","b":[1]}}`))
	if !*update {
		require.False(t, v.matches(`{"result":{"$file":"outer"}}`, `{"result":{"a":"7","b":[2]}}`))
	}
	require.Equal(t,
		map[string]any{"a": "<digits>", "b": map[string]any{"$file": "inner"}, "c": "new"},
		v.keep(map[string]any{"a": "<digits>", "b": map[string]any{"$file": "inner"}, "d": "gone"},
			map[string]any{"a": "8", "b": decoded(t, "[1]"), "c": "new"}))
}

func decoded(t *testing.T, s string) any {
	t.Helper()
	v, err := decodeAny(s)
	require.NoError(t, err)
	return v
}

func TestTheFirstDifferenceIsNamed(t *testing.T) {
	t.Parallel()
	v := values{t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(v.dir, "all.json"), []byte(`{"a":[1,{"b":2}],"c":3}`), 0o600))
	for got, want := range map[string]string{
		`{"result":{"a":[1,{"b":5}],"c":3}}`: "at .result.a[1].b: want 2, got 5",
		`{"result":{"a":[1],"c":3}}`:         `at .result.a: want [1,{"b":2}], got [1]`,
		`{"result":{"a":[1,{"b":2}]}}`:       "at .result.c: want 3, got null",
		`{"result":4}`:                       `at .result: want {"a":[1,{"b":2}],"c":3}, got 4`,
	} {
		require.Equal(t, "\n\tdiffers "+want, v.difference(`{"result":{"$file":"all"}}`, got))
	}
	require.Len(t, brief(string(make([]byte, 9999))), 2000+len("… (9999 bytes)"))
}
