package enginetest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
)

func player(t *testing.T, recording string, faults ...string) *hosted {
	t.Helper()
	p := enginetest.Player(t, recording, faults...)
	h := host(t, p)
	return h
}

// A recording answers with the ids of the current host.
func TestARecordingIsPlayed(t *testing.T) {
	t.Parallel()
	h := player(t, "acp-omp.jsonl")
	h.send(`{"jsonrpc":"2.0","id":"mine","method":"initialize","params":{}}`)
	first := h.until(func(l line) bool { return l.ID == "mine" })
	require.Contains(t, first.raw, `"loadSession":true`)
	h.send(`{"jsonrpc":"2.0","id":"again","method":"session/new","params":{}}`)
	require.Contains(t, h.until(func(l line) bool { return l.ID == "again" }).raw, `"sessionId"`)
}

func TestARecordingEndsWithAFault(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{"exit-after:1": `{"`, "half-line:1": `{"`} {
		h := player(t, "pi-basics.jsonl", fault)
		h.send(`{"id":"1","type":"get_state"}`)
		l := h.until(func(line) bool { return true })
		require.Equal(t, want, l.raw[:2])
		require.Equal(t, fault == "exit-after:1", l.ID == "1", "a whole line: %s", l.raw)
		for range h.Lines() { // to their end
		}
		require.Equal(t, child.Exit{Code: 1}, h.Exit())
	}
}
