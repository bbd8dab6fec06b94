package pi

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
)

// pieceOf returns a piece of a line as a record.
func pieceOf(t testing.TB, id string, index, count, size int, data string) *record {
	t.Helper()
	raw, err := json.Marshal(object{"type": "rpc_chunk", "chunkId": id, "index": index, "count": count, "byteLength": size, "data": data})
	require.NoError(t, err)
	r, ok := parse(raw)
	require.True(t, ok)
	return &r
}

func encode64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func TestALineInPieces(t *testing.T) {
	t.Parallel()
	var c chunks
	for range 2 { // the second one with the same id
		line, err := c.add(pieceOf(t, "a", 0, 3, 7, encode64("abc")))
		require.NoError(t, err)
		require.Nil(t, line)
		line, err = c.add(pieceOf(t, "a", 1, 3, 7, encode64("d")))
		require.NoError(t, err)
		require.Nil(t, line)
		line, err = c.add(pieceOf(t, "a", 2, 3, 7, encode64("efg")))
		require.NoError(t, err)
		require.Equal(t, "abcdefg", string(line))
	}
}

// A piece that does not fit ends its line, and the next line is read again.
func TestPiecesThatDoNotFit(t *testing.T) {
	t.Parallel()
	big := encode64(strings.Repeat("x", 100))
	for name, pieces := range map[string][]*record{
		"no id":                   {pieceOf(t, "", 0, 1, 3, encode64("abc"))},
		"a long id":               {pieceOf(t, strings.Repeat("i", 300), 0, 1, 3, encode64("abc"))},
		"it begins in the middle": {pieceOf(t, "a", 1, 2, 3, encode64("abc"))},
		"another line":            {pieceOf(t, "a", 0, 2, 6, encode64("abc")), pieceOf(t, "b", 1, 2, 6, encode64("abc"))},
		"another size":            {pieceOf(t, "a", 0, 2, 6, encode64("abc")), pieceOf(t, "a", 1, 2, 7, encode64("abc"))},
		"another count":           {pieceOf(t, "a", 0, 2, 6, encode64("abc")), pieceOf(t, "a", 1, 3, 6, encode64("abc"))},
		"twice the first":         {pieceOf(t, "a", 0, 2, 6, encode64("abc")), pieceOf(t, "a", 0, 2, 6, encode64("abc"))},
		"one is missing":          {pieceOf(t, "a", 0, 3, 9, encode64("abc")), pieceOf(t, "a", 2, 3, 9, encode64("abc"))},
		"more than announced":     {pieceOf(t, "a", 0, 2, 6, big)},
		"more in the end":         {pieceOf(t, "a", 0, 2, 6, encode64("abc")), pieceOf(t, "a", 1, 2, 6, encode64("abcd"))},
		"less than announced":     {pieceOf(t, "a", 0, 2, 6, encode64("abc")), pieceOf(t, "a", 1, 2, 6, encode64("ab"))},
		"nothing":                 {pieceOf(t, "a", 0, 2, 6, "")},
		"no base64":               {pieceOf(t, "a", 0, 2, 6, "a b c=")},
		"no size":                 {pieceOf(t, "a", 0, 2, 0, encode64("abc"))},
		"a negative size":         {pieceOf(t, "a", 0, 2, -6, encode64("abc"))},
		"no count":                {pieceOf(t, "a", 0, 0, 6, encode64("abc"))},
		"too many":                {pieceOf(t, "a", 0, maxChunks+1, maxChunked, encode64("abc"))},
		"a negative index":        {pieceOf(t, "a", -1, 2, 6, encode64("abc"))},
	} {
		var c chunks
		for i, p := range pieces {
			line, err := c.add(p)
			require.Nil(t, line, name)
			require.Equal(t, i == len(pieces)-1, err != nil, name)
		}
		require.Zero(t, c, name)
		line, err := c.add(pieceOf(t, "z", 0, 1, 2, encode64("{}")))
		require.NoError(t, err, name)
		require.Equal(t, "{}", string(line))
	}
	var c chunks
	for _, size := range []float64{maxChunked + 1, 1e12, 1e300} {
		r := pieceOf(t, "a", 0, 2, 1, encode64("abc"))
		r.values[fByteLength] = fmt.Appendf(nil, "%v", size)
		_, err := c.add(r)
		require.ErrorIs(t, err, errChunkTooLong)
	}
}

// A line that is announced as long as it may be takes only the memory of its pieces.
func TestAnAnnouncementTakesNoMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all := make([]chunks, 100)
	for i := range all {
		_, err := all[i].add(pieceOf(t, "a", 0, maxChunks, maxChunked, encode64("abc")))
		require.NoError(t, err)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4<<20))
	runtime.KeepAlive(all)
}

// agreeing returns a fake omp that has announced pieces.
func agreeing(t *testing.T) (*fakePi, *testHost, *Engine) {
	t.Helper()
	f, h := newFake(t), newHost(t)
	e := f.engineOf(Options{})
	e.program, e.d = engine.Program{Name: "omp", Protocol: engine.OmpRPC}, ompDialect
	f.fork = true
	f.send(object{"type": "ready", "supportedProtocolVersions": []int{1, 2}})
	place := testPlace(t)
	_, err := e.Open(t.Context(), place, h)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close(context.Background())) })
	return f, h, e
}

func TestOmpSendsALineInPieces(t *testing.T) {
	t.Parallel()
	f, h, e := agreeing(t)
	require.Eventually(t, func() bool { return len(f.commands("negotiate_protocol")) == 1 }, testLimit, time.Millisecond)
	line, err := json.Marshal(object{"type": "notice", "message": "it is whole"})
	require.NoError(t, err)
	send := func(from, to, index, count int) {
		f.send(object{"type": "rpc_chunk", "chunkId": "a", "index": index, "count": count, "byteLength": len(line), "data": encode64(string(line[from:to]))})
	}
	send(0, 10, 0, 2)
	f.send(object{"type": "notice", "message": "between"}) // it is read, and the pieces are given up
	send(10, len(line), 1, 2)
	h.wait("between")
	send(0, 10, 0, 2)
	send(10, len(line), 1, 2)
	h.wait("it is whole")

	// A line in pieces that is a piece again is none.
	inner := string(line)
	line = []byte(fmt.Sprintf(`{"type":"rpc_chunk","chunkId":"b","index":0,"count":1,"byteLength":%d,"data":%q}`, len(inner), encode64(inner)))
	send(0, len(line), 0, 1)
	line, err = json.Marshal(object{"type": "notice", "message": "the end"})
	require.NoError(t, err)
	send(0, len(line), 0, 1)
	h.wait("the end")
	require.Equal(t, 1, strings.Count(strings.Join(h.all(), "\n"), "it is whole"))
	require.NoError(t, e.usable())
}

// Too long a line, and too many that cannot be read, end the engine.
func TestBombsInPieces(t *testing.T) {
	t.Parallel()
	f, _, e := agreeing(t)
	f.send(object{"type": "rpc_chunk", "chunkId": "a", "index": 0, "count": 2, "byteLength": maxChunked + 1, "data": encode64("x")})
	<-e.Done()
	require.ErrorContains(t, e.Err(), "sent more than can be read at once")

	f, _, e = agreeing(t)
	for i := range maxGarbage {
		f.send(object{"type": "rpc_chunk", "chunkId": "a", "index": i + 1, "count": 500, "byteLength": 1000, "data": encode64("x")})
	}
	<-e.Done()
	require.ErrorContains(t, e.Err(), "lines in pieces could not be read")
}

// Without an announcement a piece is an unknown record.
func TestPiecesThatWereNotAgreedOn(t *testing.T) {
	t.Parallel()
	f, h := newFake(t), newHost(t)
	e := f.open(h)
	inner := `{"type":"extension_error","error":"x"}`
	f.send(object{"type": "rpc_chunk", "chunkId": "a", "index": 0, "count": 1, "byteLength": len(inner), "data": encode64(inner)})
	require.Equal(t, "answer", outcomeText(t, e))
	require.False(t, has(h.all(), "Extension"))
}

func outcomeText(t *testing.T, e *Engine) string {
	t.Helper()
	out := e.Run(t.Context(), engine.Input{Text: "x"})
	require.NoError(t, out.Err)
	return out.Message.PlainText()
}

// FuzzPieces cuts a line and changes one piece: the result is the line, or nothing.
func FuzzPieces(f *testing.F) {
	f.Add([]byte(`{"type":"x"}`), uint8(3), uint8(0), []byte(nil))
	f.Add([]byte(`{"type":"x","text":"long"}`), uint8(1), uint8(5), []byte(`{"type":"rpc_chunk","chunkId":"f","index":5,"count":26,"byteLength":26,"data":"eA=="}`))
	f.Fuzz(func(t *testing.T, line []byte, size, at uint8, other []byte) {
		var c chunks
		n := max(1, int(size))
		count := (len(line) + n - 1) / n
		changed := false
		for i := range count {
			if i == int(at) {
				if r, ok := parse(other); ok {
					changed = true
					out, err := c.add(&r)
					require.True(t, out == nil || err == nil)
				}
			}
			part := line[i*n : min(len(line), (i+1)*n)]
			out, err := c.add(pieceOf(t, "f", i, count, len(line), encode64(string(part))))
			require.LessOrEqual(t, len(c.joined), maxChunked)
			if !changed {
				require.NoError(t, err)
				require.Equal(t, i == count-1, out != nil)
			}
			if out != nil && !changed {
				require.True(t, bytes.Equal(line, out))
			}
		}
	})
}
