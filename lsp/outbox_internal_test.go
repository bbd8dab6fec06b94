package lsp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
)

// A client that does not read keeps the newest output of each running tool, and every
// event.
func TestOutputIsKeptOnceWhileTheClientDoesNotRead(t *testing.T) {
	t.Parallel()
	s := &server{log: zap.NewNop(), outbox: newOutbox()}
	output := strings.Repeat("x", 50_000)
	update := func(seq uint64, call string) {
		raw, err := json.Marshal(map[string]any{"content": []any{map[string]any{"type": "text", "text": output + call}}})
		require.NoError(t, err)
		s.forwardRun(EventParams{Cwd: "/w", SessionID: "s", Seq: seq, Event: loop.Event{Type: loop.ToolUpdate, ToolCallID: call, PartialResult: raw}})
	}
	for i := range 1000 {
		update(uint64(2*i+1), "a")
		update(uint64(2*i+2), "b")
	}
	s.forwardRun(EventParams{Cwd: "/w", SessionID: "s", Seq: 2001, Event: loop.Event{Type: loop.ToolEnd, ToolCallID: "a"}})
	var seqs []uint64
	bytes, whole := 0, 0
	for {
		n, ok := s.outbox.take()
		if !ok {
			break
		}
		var e EventParams
		require.NoError(t, json.Unmarshal(n.params, &e))
		seqs = append(seqs, e.Seq)
		bytes += len(n.params) + len(n.brief)
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

// take is next for an outbox that was never opened.
func (o *outbox) take() (outgoing, bool) {
	o.mu.Lock()
	o.opened = true
	o.mu.Unlock()
	return o.next()
}
