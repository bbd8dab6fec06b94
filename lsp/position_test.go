package lsp_test

import (
	"math"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/protocol"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

var units = []protocol.PositionEncodingKind{lsp.UTF8Units, lsp.UTF16Units, lsp.UTF32Units}

func TestOffsetAt(t *testing.T) {
	t.Parallel()
	const text = "aé\n😀b\r\nc\rd"
	for name, tc := range map[string]struct {
		line, char int64
		enc        protocol.PositionEncodingKind
		want       int
	}{
		"start":                           {0, 0, lsp.UTF16Units, 0},
		"after two bytes":                 {0, 2, lsp.UTF16Units, 3},
		"after two bytes in UTF-8":        {0, 3, lsp.UTF8Units, 3},
		"inside a character in UTF-8":     {0, 2, lsp.UTF8Units, 1},
		"beyond the line":                 {0, 99, lsp.UTF16Units, 3},
		"second line":                     {1, 0, lsp.UTF16Units, 4},
		"after a surrogate pair":          {1, 2, lsp.UTF16Units, 8},
		"inside a surrogate pair":         {1, 1, lsp.UTF16Units, 4},
		"after the emoji in UTF-32":       {1, 1, lsp.UTF32Units, 8},
		"before CRLF":                     {1, 99, lsp.UTF32Units, 9},
		"after CRLF":                      {2, 0, lsp.UTF16Units, 11},
		"after a lone CR":                 {3, 0, lsp.UTF16Units, 13},
		"end":                             {3, 1, lsp.UTF16Units, 14},
		"beyond the text":                 {4, 0, lsp.UTF16Units, 14},
		"as clients write the end":        {math.MaxInt32, math.MaxInt32, lsp.UTF16Units, 14},
		"as other clients write the end":  {math.MaxUint32, math.MaxUint32, lsp.UTF16Units, 14},
		"negative":                        {-1, -1, lsp.UTF16Units, 0},
		"negative within the second line": {1, -5, lsp.UTF16Units, 4},
	} {
		require.Equal(t, tc.want, lsp.OffsetAt(text, lsp.Position{Line: tc.line, Character: tc.char}, tc.enc), name)
	}
}

func TestPositionAt(t *testing.T) {
	t.Parallel()
	const text = "é\r\n😀"
	for offset, want := range map[int]lsp.Position{
		-1: {}, 0: {}, 1: {}, 2: {Line: 0, Character: 1}, 3: {Line: 0, Character: 1}, 4: {Line: 1},
		5: {Line: 1}, 8: {Line: 1, Character: 2}, 99: {Line: 1, Character: 2},
	} {
		require.Equal(t, want, lsp.PositionAt(text, offset, lsp.UTF16Units), "offset %d", offset)
	}
	require.Equal(t, lsp.Position{}, lsp.PositionAt("", 0, lsp.UTF8Units))
	require.Equal(t, lsp.Position{Line: 1}, lsp.PositionAt("\n", 1, lsp.UTF8Units))
}

// Every offset that starts a character, and is not within a line break, survives
// the way to a position and back.
func FuzzPosition(f *testing.F) {
	f.Add("", int64(0), int64(0))
	f.Add("aé\n😀b\r\nc\rd", int64(1), int64(2))
	f.Add("\r\r\n\n\r", int64(3), int64(0))
	f.Add("\xff\xfe\n\xf0\x9f", int64(1), int64(1))
	f.Add("\u2028\u0085x", int64(0), int64(2))
	f.Fuzz(func(t *testing.T, text string, line, char int64) {
		for _, enc := range units {
			got := lsp.OffsetAt(text, lsp.Position{Line: line, Character: char}, enc)
			require.True(t, got >= 0 && got <= len(text))
			for i := 0; i <= len(text); {
				if i == 0 || i == len(text) || text[i-1] != '\r' || text[i] != '\n' {
					require.Equal(t, i, lsp.OffsetAt(text, lsp.PositionAt(text, i, enc), enc), "%q at %d in %s", text, i, enc)
				}
				_, size := utf8.DecodeRuneInString(text[i:])
				i += max(size, 1)
			}
		}
	})
}

func TestChooseEncoding(t *testing.T) {
	t.Parallel()
	for want, offers := range map[protocol.PositionEncodingKind][][]string{
		lsp.UTF8Units:  {{"utf-16", "utf-8"}, {"utf-8", "utf-16", "utf-32"}, {"UTF-8"}},
		lsp.UTF32Units: {{"utf-16", "utf-32"}, {"utf-32"}},
		lsp.UTF16Units: {nil, {}, {"utf-16"}, {"utf-7", ""}},
	} {
		for _, offer := range offers {
			require.Equal(t, want, lsp.ChooseEncoding(offer), offer)
		}
	}
}
