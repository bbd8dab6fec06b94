package commands

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A text in pieces of any size is encoded as the whole text is.
func TestTextIsEncodedInPieces(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "plain", "a\nb\t\"c\" <d> & \\ \x00\x1b", "é€😀 \u2028\u2029", "\xff\xe2\x82", "\xe2\x82x", "\xf0\x9f\x98", strings.Repeat("é€😀\xf0\x9f", 50), "\x80\x80\x80\x80\x80", "a\xed\xa0\x80b",
	} {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(text))
		for _, piece := range []int{1, 2, 3, 5, 1000} {
			var got bytes.Buffer
			w := jsonText{to: &got}
			for at := 0; at < len(text); at += piece {
				n, err := w.Write([]byte(text[at:min(len(text), at+piece)]))
				require.NoError(t, err)
				require.Equal(t, min(len(text)-at, piece), n)
			}
			require.NoError(t, w.finish())
			require.Equal(t, want.String(), `"`+got.String()+"\"\n", "%q in pieces of %d", text, piece)
		}
	}
}
