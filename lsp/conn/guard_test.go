package conn

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.lsp.dev/jsonrpc2"
)

// bodies are the seeds of the fuzz tests.
var bodies = []string{
	`hello`, `{"jsonrpc":"2.0","id":1,"method":`, `   `, "\xff\xfe{\x00}\x00", ``, `1`, `null`, `{}`, `[]`, `[1,2,3]`,
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","method":"exit"}`,
	`{"jsonrpc":"2.0","id":1.5,"method":"x"}`, `{"jsonrpc":"2.0","id":{},"method":"x"}`, `{"jsonrpc":"1.0","id":"v","method":"x"}`,
	`{"jsonrpc":"2.0","id":null,"method":"shutdown"}`, "\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":"bom","method":"x/y"}`,
	`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"1"}}`, `{"jsonrpc":"2.0","id":1,"result":null}`,
	`{"jsonrpc":"2.0","id":1,"result":1,"error":{}}`, `{"jsonrpc":"2.0","error":{"code":"x"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"workspace/executeCommand","params":{"command":"xcsh.abort"}}`,
}

// The JSON-RPC connection can decode every body that passes, otherwise it would close itself. An
// answer of the guard is always a valid message.
func FuzzJudge(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		v := judge(body)
		require.False(t, v.pass != nil && v.reply != nil)
		if v.pass != nil {
			msg, err := jsonrpc2.DecodeMessage(v.pass)
			require.NoError(t, err)
			_, isCall := msg.(*jsonrpc2.Call)
			require.Equal(t, isCall, v.call)
		}
		if v.reply != nil {
			require.True(t, json.Valid(v.reply))
			_, err := jsonrpc2.DecodeMessage(v.reply)
			require.NoError(t, err)
		}
	})
}

// Memory grows with the bytes that arrive, not with the announced length.
func TestMemoryGrowsWithTheBytesThatArrive(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 16 {
		_, err := readFrame(bufio.NewReader(strings.NewReader("Content-Length: 67108864\r\n\r\n{}")))
		require.ErrorIs(t, err, io.EOF)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20))
}

func FuzzReadFrame(f *testing.F) {
	for _, body := range bodies {
		f.Add(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
	}
	for _, raw := range []string{
		"", "\r\n\r\n", "Content-Length: 0\r\n\r\n", "Content-Length: 99\r\n\r\n{}", "Content-Length: -1\r\n\r\n",
		"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "content-length:2\n\n{}", "Content-Length: 999999999999\r\n\r\n", "x\r\n\r\n",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r := bufio.NewReader(strings.NewReader(raw))
		for total := 0; ; {
			body, err := readFrame(r)
			if err != nil {
				return
			}
			total += len(body)
			require.LessOrEqual(t, total, len(raw))
		}
	})
}
