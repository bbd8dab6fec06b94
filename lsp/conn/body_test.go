package conn

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
	"go.uber.org/zap"
)

// testBody is a body of JSON that notes that it was closed.
type testBody struct {
	json   string
	broken error // of reading, after half of it
	closed atomic.Int32
}

func (b *testBody) Len() int64 { return int64(len(b.json)) }

func (b *testBody) WriteTo(w io.Writer) (int64, error) {
	if b.broken != nil {
		n, _ := io.WriteString(w, b.json[:len(b.json)/2])
		return int64(n), b.broken
	}
	return io.Copy(w, strings.NewReader(b.json))
}

func (b *testBody) Close() error {
	b.closed.Add(1)
	return nil
}

// answerWith is the answer that the JSON-RPC connection builds with a result.
func answerWith(t *testing.T, st *stream, id int64, result any) []byte {
	t.Helper()
	raw, err := codec{&st.bodies}.Marshal(result)
	require.NoError(t, err)
	return jsonrpc2.AppendResponse(nil, jsonrpc2.NewNumberID(id), jsonrpc2.RawMessage(raw), nil)
}

// An answer with a body is the frame that it would be with the same bytes as its result. Answers that look like the name of
// one stay what they are.
func TestABodyIsTheResult(t *testing.T) {
	t.Parallel()
	var got, want bytes.Buffer
	in, _ := io.Pipe()
	st := newStream(in, nopCloser{&got}, zap.NewNop(), func() {})
	t.Cleanup(func() { _ = st.Close() })
	texts := []string{`{"text":""}`, `{"text":"` + strings.Repeat("long ", 100_000) + `"}`, `"ABCDEFGHIJKLMNOPQRSTUVWXYZ"`, `null`}
	for i, text := range texts {
		b := &testBody{json: text}
		called := make(chan struct{}, 1)
		st.afterAnswer(jsonrpc2.NewNumberID(int64(i)), func() { called <- struct{}{} })
		require.NoError(t, st.put(answerWith(t, st, int64(i), b)))
		require.NoError(t, st.put(answerWith(t, st, int64(100+i), json.RawMessage(text))))
		<-st.output.empty()
		require.EqualValues(t, 1, b.closed.Load())
		require.Len(t, called, 1)
		for _, id := range []int{i, 100 + i} {
			frame := `{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"result":` + text + `}`
			want.WriteString("Content-Length: " + strconv.Itoa(len(frame)) + "\r\n\r\n" + frame)
		}
	}
	require.Equal(t, want.String(), got.String())
	require.Empty(t, st.bodies.named)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// Bodies are closed, too, if their answers are not written: because the output is broken or closed, or because
// the connection has dropped the answer.
func TestBodiesAreClosed(t *testing.T) {
	t.Parallel()
	in, _ := io.Pipe()
	r, blocked := io.Pipe()
	st := newStream(in, blocked, zap.NewNop(), func() {})
	waiting, next, dropped, late := &testBody{json: "1"}, &testBody{json: "2"}, &testBody{json: "3"}, &testBody{json: "4"}
	require.NoError(t, st.put(answerWith(t, st, 1, waiting)))
	require.NoError(t, st.put(answerWith(t, st, 2, next)))
	_ = answerWith(t, st, 3, dropped)
	_, err := r.Read(make([]byte, 1)) // the first answer is being written
	require.NoError(t, err)
	require.NoError(t, st.Close())
	<-st.broken // the write has ended
	require.Error(t, st.put(answerWith(t, st, 4, late)))
	<-st.output.empty()
	for _, b := range []*testBody{next, dropped, late} {
		require.EqualValues(t, 1, b.closed.Load(), b.json)
	}
	require.LessOrEqual(t, waiting.closed.Load(), int32(1))
}

// A body that cannot be read to its end breaks the output: the client must not take what follows for the rest of it.
func TestABrokenBodyBreaksTheOutput(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	in, _ := io.Pipe()
	st := newStream(in, nopCloser{&got}, zap.NewNop(), func() {})
	t.Cleanup(func() { _ = st.Close() })
	gone := errors.New("gone")
	b, behind := &testBody{json: `"0123456789"`, broken: gone}, &testBody{json: "1"}
	require.NoError(t, st.put(answerWith(t, st, 1, b)))
	<-st.broken
	<-st.output.empty()
	require.ErrorIs(t, st.writeErr(), gone)
	require.ErrorIs(t, st.put(answerWith(t, st, 2, behind)), gone)
	require.EqualValues(t, 1, b.closed.Load())
	require.EqualValues(t, 1, behind.closed.Load())
	require.True(t, strings.HasSuffix(got.String(), `"01234`), got.String())
}

// A body counts as unread by its length.
func TestAnUnreadBodyCounts(t *testing.T) {
	t.Parallel()
	in, _ := io.Pipe()
	_, blocked := io.Pipe()
	st := newStream(in, blocked, zap.NewNop(), func() {})
	t.Cleanup(func() { _ = st.Close() })
	require.NoError(t, st.put(answerWith(t, st, 1, &testBody{json: strings.Repeat("x", maxUnread)})))
	require.Greater(t, st.output.unread(), maxUnread)
}
