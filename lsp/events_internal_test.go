package lsp

import (
	"bufio"
	"encoding/json"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
)

// A client that does not read keeps the newest output of each running tool, and every
// event.
func TestOutputIsKeptOnceWhileTheClientDoesNotRead(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	s := &server{log: zap.NewNop(), conn: conn.New(in, out, zap.NewNop(), func() {})}
	t.Cleanup(func() {
		_ = fromServer.Close()
		_ = toServer.Close()
		s.conn.Close(settleTime)
	})
	output := strings.Repeat("x", 50_000)
	update := func(seq uint64, call string) {
		raw, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": output + call}}})
		require.NoError(t, err)
		s.forwardRun(EventParams{Cwd: "/w", SessionID: "s", Seq: seq, Event: event.ToolUpdate{ToolCallID: call, PartialResult: raw}})
	}
	for i := range 1000 {
		update(uint64(2*i+1), "a")
		update(uint64(2*i+2), "b")
	}
	s.forwardRun(EventParams{Cwd: "/w", SessionID: "s", Seq: 2001, Event: event.ToolEnd{ToolCallID: "a"}})
	var seqs []uint64
	bytes, whole := 0, 0
	s.conn.OpenNotifications()
	for r := bufio.NewReader(fromServer); len(seqs) < 2001; {
		params := readEvent(t, r)
		var e struct {
			Seq   uint64
			Event struct{ PartialResult json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(params, &e))
		seqs = append(seqs, e.Seq)
		bytes += len(params)
		if e.Event.PartialResult != nil {
			whole++
		}
	}
	require.Len(t, seqs, 2001, "no number is missing")
	for i, seq := range seqs {
		require.EqualValues(t, i+1, seq)
	}
	assert.Equal(t, 2, whole, "the newest output of each call")
	assert.Less(t, bytes, 500_000)
}

// readEvent reads a notification and returns its parameters.
func readEvent(t *testing.T, r *bufio.Reader) json.RawMessage {
	t.Helper()
	header, err := textproto.NewReader(r).ReadMIMEHeader()
	require.NoError(t, err)
	n, err := strconv.Atoi(header.Get("Content-Length"))
	require.NoError(t, err)
	body := make([]byte, n)
	_, err = io.ReadFull(r, body)
	require.NoError(t, err)
	var m struct {
		Params json.RawMessage `json:"params"`
	}
	require.NoError(t, json.Unmarshal(body, &m))
	return m.Params
}
