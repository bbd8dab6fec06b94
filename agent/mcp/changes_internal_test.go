package mcp

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestChangesAreNoticedInEveryPieceOfABody(t *testing.T) {
	t.Parallel()
	const event = `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n\n"
	for text, changes := range map[string]int{
		event:                                  1,
		strings.Repeat(event, 3):               3,
		strings.ReplaceAll(event, "/", `\/`):   1, // as PHP writes it
		strings.Repeat("data: {}\n\n", 50):     0,
		"/list_change" + "/list_chang" + event: 1,
		"":                                     0,
	} {
		for name, pieces := range map[string]func(io.Reader) io.Reader{"bytes": iotest.OneByteReader, "halves": iotest.HalfReader} {
			noticed := 0
			body := &watchedBody{ReadCloser: io.NopCloser(pieces(strings.NewReader(text))), changed: func() { noticed++ }}
			read, err := io.ReadAll(body)
			require.NoError(t, err)
			require.Equal(t, text, string(read))
			if name == "bytes" {
				require.Equal(t, changes, noticed, text)
			} else {
				require.Equal(t, changes > 0, noticed > 0, text)
			}
		}
	}
}
