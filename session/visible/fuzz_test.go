package visible_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// forbidden matches the characters that must never be in an output, by the categories of
// Go's own tables. Joiners, selectors and tags have conditions, which requireHarmless
// checks.
func forbidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r', 0x0600 <= r && r <= 0x0605, r == 0x06DD, r == 0x070F, r == 0x0890, r == 0x0891, r == 0x08E2, r == 0x110BD, r == 0x110CD:
		return false // lines, and visible signs that Unicode counts as format characters
	case 0x13430 <= r && r <= 0x1343F: // joins hieroglyphs
		return false
	case r == 0x200C || r == 0x200D || r == 0xFE0E || r == 0xFE0F || 0xE0020 <= r && r <= 0xE007F:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// requireHarmless checks an output by rules that are written otherwise than those of the package.
func requireHarmless(t *testing.T, out string) {
	t.Helper()
	require.True(t, utf8.ValidString(out), "%q", out)
	require.Negative(t, strings.IndexFunc(out, forbidden), "%q", out)
	require.NotContains(t, strings.ReplaceAll(out, "\r\n", "\n"), "\r")
	rest := out
	for _, flag := range []string{"\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"} {
		rest = strings.ReplaceAll(rest, "\U0001f3f4"+flag, "\U0001f3f4")
	}
	special := func(r rune) bool {
		return r == 0x200C || r == 0x200D || r == 0xFE0E || r == 0xFE0F
	}
	before := rune(' ')
	for i, r := range rest {
		require.False(t, 0xE0000 <= r && r <= 0xE0FFF, "%q", out)
		if special(r) {
			switch after, _ := utf8.DecodeRuneInString(rest[i+utf8.RuneLen(r):]); {
			case before < 0x80: // in ASCII only as a part of a keycap
				require.True(t, r == 0xFE0F && after == 0x20E3, "%q", out)
			case special(before): // one behind the other only as selector and joiner of an emoji
				require.True(t, before == 0xFE0F && r == 0x200D && after > 0x80, "%q", out)
			}
		}
		before = r
	}
}

func FuzzText(f *testing.F) {
	for _, s := range ordinary {
		f.Add(s, 3)
	}
	for _, c := range escaped {
		f.Add(c.from, 2)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		text, line := visible.Text(s), visible.Line(s)
		requireHarmless(t, text)
		requireHarmless(t, line)
		require.False(t, strings.ContainsAny(line, "\n\r\t"))
		require.Equal(t, text, visible.Text(text))
		require.Equal(t, line, visible.Line(line))
		for _, size := range []int{1, 2, 3, 1 + (n&0xff)%7} {
			require.Equal(t, text, stream(t, visible.NewWriter, s, size))
		}
		if letters(s) {
			require.Equal(t, s, text)
		}
	})
}

// letters reports whether s has only letters, digits, signs and spaces.
func letters(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool {
		odd := r == 0x115F || r == 0x1160 || r == 0x3164 || r == 0xFFA0 // fillers count as letters
		return odd || !unicode.In(r, unicode.L, unicode.Nd, unicode.P, unicode.S, unicode.Zs)
	}) < 0
}

func FuzzJSON(f *testing.F) {
	for _, c := range escaped {
		doc, _ := json.Marshal(c.from)
		f.Add(doc)
		f.Add([]byte(`{"` + c.from + `": "` + c.from + `"}`))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		safe := visible.JSON(doc)
		requireHarmless(t, string(safe))
		require.Equal(t, string(safe), string(visible.JSON(safe)))
		require.Equal(t, string(safe), stream(t, visible.NewJSONWriter, string(doc), 1))
		var before, after any
		if json.Unmarshal(doc, &before) == nil {
			require.NoError(t, json.Unmarshal(safe, &after))
			require.Equal(t, before, after)
		}
	})
}

func BenchmarkText(b *testing.B) {
	for name, line := range map[string]string{
		"ASCII":   "	if err := json.Unmarshal(raw, &p); err != nil { return nil, paramsError(\"textDocument/hover\", err) }\n",
		"CJK":     "日本語のテキスト、中文，한국어 mixed with ASCII\n",
		"escapes": "\x1b[32mok\x1b[0m  package\t0.01s\n",
	} {
		text := strings.Repeat(line, 1<<20/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_ = visible.Text(text)
			}
		})
		b.Run(name+"/stream", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			w := visible.NewWriter(discard{})
			for b.Loop() {
				_, _ = w.Write([]byte(text))
			}
		})
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
