package lsp_test

import (
	"bufio"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// What is handed on can be decoded by the connection, which would close itself
// otherwise; an answer is always a message.
func FuzzJudge(f *testing.F) {
	for _, p := range probes() {
		if _, body, ok := strings.Cut(p.raw, "\r\n\r\n"); ok && len(body) < 1000 {
			f.Add([]byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		pass, reply, call := lsp.Judge(body)
		require.False(t, pass != nil && reply != nil)
		if pass != nil {
			msg, err := jsonrpc2.DecodeMessage(pass)
			require.NoError(t, err)
			_, isCall := msg.(*jsonrpc2.Call)
			require.Equal(t, isCall, call)
		}
		if reply != nil {
			require.True(t, json.Valid(reply))
			_, err := jsonrpc2.DecodeMessage(reply)
			require.NoError(t, err)
		}
	})
}

// A length is a claim. Memory is only taken for bytes that arrive.
func TestMemoryFollowsWhatArrives(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 16 {
		_, err := lsp.ReadFrame(bufio.NewReader(strings.NewReader("Content-Length: 67108864\r\n\r\n{}")))
		require.ErrorIs(t, err, io.EOF)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

func FuzzReadFrame(f *testing.F) {
	for _, p := range probes() {
		if len(p.raw) < 1000 {
			f.Add(p.raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r := bufio.NewReader(strings.NewReader(raw))
		for total := 0; ; {
			body, err := lsp.ReadFrame(r)
			if err != nil {
				return
			}
			total += len(body)
			require.LessOrEqual(t, total, len(raw))
		}
	})
}
