package session

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is remembered of the end of a file is its end, in whatever pieces it grew.
func TestTheRememberedEndIsTheEnd(t *testing.T) {
	t.Parallel()
	for _, first := range []int{0, 1, 100, endBytes - 1, endBytes, 3 * endBytes} {
		for _, step := range []int{1, 60, 1000, endBytes - 1, endBytes, endBytes + 1, 3*endBytes + 7} {
			content := bytes.Repeat([]byte{'x'}, first)
			d := &Document{}
			d.remember(content)
			for n := range 20 {
				more := bytes.Repeat([]byte{byte('a' + n)}, step+n%3)
				content = append(content, more...)
				d.remember(more)
				require.True(t, bytes.HasSuffix(content, d.end), "%d, steps of %d", first, step)
				require.GreaterOrEqual(t, len(d.end), min(len(content), endBytes))
				require.LessOrEqual(t, len(d.end), 2*endBytes)
			}
		}
	}
}
