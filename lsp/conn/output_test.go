package conn

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// The stream records a write error before a later put can fail because of it. Otherwise the JSON-RPC
// connection could end first, and the server would report that instead of the broken output.
func TestWriteErrorsAreReportedBeforePutFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	var o *output
	made, reported := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	o = newOutput(brokenWriter{broken}, func(_ []byte, err error) {
		<-made
		once.Do(func() { reported <- errors.Join(err, o.put(message{bytes: []byte("x")})) })
	}, func() {})
	close(made)
	require.NoError(t, o.put(message{bytes: []byte("first")}))
	require.Equal(t, "broken", (<-reported).Error(), "put does not fail yet")
	<-o.empty()
	require.ErrorIs(t, o.put(message{bytes: []byte("last")}), broken)
}
