package conn

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.uber.org/zap"
)

// A function that waits for an answer is called after that answer, and after no other message.
func TestAfterAnswer(t *testing.T) {
	t.Parallel()
	in, _ := io.Pipe()
	r, w := io.Pipe()
	st := newStream(in, w, zap.NewNop(), func() {})
	t.Cleanup(func() { _ = st.Close() })
	called := make(chan string, 10)
	for name, id := range map[string]jsonrpc2.ID{"7": jsonrpc2.NewNumberID(7), "text": jsonrpc2.NewStringID("7"), "again": jsonrpc2.NewNumberID(8)} {
		st.afterAnswer(id, func() { called <- name })
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	answer := func(id jsonrpc2.ID, err error) []byte {
		return jsonrpc2.AppendResponse(nil, id, jsonrpc2.RawMessage(`{"id":7}`), err)
	}
	send := func(body []byte) []string {
		require.NoError(t, st.put(body))
		<-st.output.empty()
		var names []string
		for len(called) > 0 {
			names = append(names, <-called)
		}
		return names
	}
	require.Empty(t, send(answer(jsonrpc2.NewNumberID(70), nil)))
	require.Empty(t, send([]byte(`{"jsonrpc":"2.0","method":"m","params":{"id":7}}`)))
	require.Equal(t, []string{"7"}, send(answer(jsonrpc2.NewNumberID(7), nil)))
	require.Empty(t, send(answer(jsonrpc2.NewNumberID(7), nil)), "once")
	require.Equal(t, []string{"text"}, send(answer(jsonrpc2.NewStringID("7"), nil)))
	require.Equal(t, []string{"again"}, send(answer(jsonrpc2.NewNumberID(8), jsonrpc2.NewError(1, "failed"))))
}
