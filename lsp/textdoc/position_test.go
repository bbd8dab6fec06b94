package textdoc_test

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

var units = []textdoc.Encoding{textdoc.UTF8, textdoc.UTF16, textdoc.UTF32}

func TestOffsetAt(t *testing.T) {
	t.Parallel()
	const text = "aé\n😀b\r\nc\rd"
	for name, tc := range map[string]struct {
		line, char int64
		enc        textdoc.Encoding
		want       int
	}{
		"start":                           {0, 0, textdoc.UTF16, 0},
		"after two bytes":                 {0, 2, textdoc.UTF16, 3},
		"after two bytes in UTF-8":        {0, 3, textdoc.UTF8, 3},
		"inside a character in UTF-8":     {0, 2, textdoc.UTF8, 1},
		"beyond the line":                 {0, 99, textdoc.UTF16, 3},
		"second line":                     {1, 0, textdoc.UTF16, 4},
		"after a surrogate pair":          {1, 2, textdoc.UTF16, 8},
		"inside a surrogate pair":         {1, 1, textdoc.UTF16, 4},
		"after the emoji in UTF-32":       {1, 1, textdoc.UTF32, 8},
		"before CRLF":                     {1, 99, textdoc.UTF32, 9},
		"after CRLF":                      {2, 0, textdoc.UTF16, 11},
		"after a lone CR":                 {3, 0, textdoc.UTF16, 13},
		"end":                             {3, 1, textdoc.UTF16, 14},
		"beyond the text":                 {4, 0, textdoc.UTF16, 14},
		"as clients write the end":        {math.MaxInt32, math.MaxInt32, textdoc.UTF16, 14},
		"as other clients write the end":  {math.MaxUint32, math.MaxUint32, textdoc.UTF16, 14},
		"negative":                        {-1, -1, textdoc.UTF16, 0},
		"negative within the second line": {1, -5, textdoc.UTF16, 4},
	} {
		require.Equal(t, tc.want, textdoc.OffsetAt(text, textdoc.Position{Line: tc.line, Character: tc.char}, tc.enc), name)
	}
}

func TestPositionAt(t *testing.T) {
	t.Parallel()
	const text = "é\r\n😀"
	for offset, want := range map[int]textdoc.Position{
		-1: {}, 0: {}, 1: {}, 2: {Line: 0, Character: 1}, 3: {Line: 0, Character: 1}, 4: {Line: 1},
		5: {Line: 1}, 8: {Line: 1, Character: 2}, 99: {Line: 1, Character: 2},
	} {
		require.Equal(t, want, textdoc.PositionAt(text, offset, textdoc.UTF16), "offset %d", offset)
	}
	require.Equal(t, textdoc.Position{}, textdoc.PositionAt("", 0, textdoc.UTF8))
	require.Equal(t, textdoc.Position{Line: 1}, textdoc.PositionAt("\n", 1, textdoc.UTF8))
}

// An offset that is not inside a character or a line break converts to a position and back without
// loss.
func FuzzPosition(f *testing.F) {
	f.Add("", int64(0), int64(0))
	f.Add("aé\n😀b\r\nc\rd", int64(1), int64(2))
	f.Add("\r\r\n\n\r", int64(3), int64(0))
	f.Add("\xff\xfe\n\xf0\x9f", int64(1), int64(1))
	f.Add("\u2028\u0085x", int64(0), int64(2))
	f.Fuzz(func(t *testing.T, text string, line, char int64) {
		for _, enc := range units {
			got := textdoc.OffsetAt(text, textdoc.Position{Line: line, Character: char}, enc)
			require.True(t, got >= 0 && got <= len(text))
			for i := 0; i <= len(text); {
				if i == 0 || i == len(text) || text[i-1] != '\r' || text[i] != '\n' {
					require.Equal(t, i, textdoc.OffsetAt(text, textdoc.PositionAt(text, i, enc), enc), "%q at %d in %s", text, i, enc)
				}
				_, size := utf8.DecodeRuneInString(text[i:])
				i += max(size, 1)
			}
		}
	})
}

func TestChooseEncoding(t *testing.T) {
	t.Parallel()
	for want, offers := range map[textdoc.Encoding][][]string{
		textdoc.UTF8:  {{"utf-16", "utf-8"}, {"utf-8", "utf-16", "utf-32"}, {"UTF-8"}},
		textdoc.UTF32: {{"utf-16", "utf-32"}, {"utf-32"}},
		textdoc.UTF16: {nil, {}, {"utf-16"}, {"utf-7", ""}},
	} {
		for _, offer := range offers {
			require.Equal(t, want, textdoc.ChooseEncoding(offer), offer)
		}
	}
}
