package lsptest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

func event(session string, seq int, typ string) *Message {
	params := fmt.Sprintf(`{"sessionId":%q,"seq":%d,"event":{"type":%q}}`, session, seq, typ)
	raw := fmt.Sprintf(`{"jsonrpc":"2.0","method":"xcsh/event","params":%s}`, params)
	return &Message{Method: "xcsh/event", Params: json.RawMessage(params), raw: []byte(raw)}
}

func TestStreamedEventsAreLeftOut(t *testing.T) {
	t.Parallel()
	const tool = `{"method":"xcsh/event","params":{"sessionId":"s","seq":2,"event":{"type":"tool_execution_start"}}}`
	got := []*Message{event("s", 1, "turn_start"), event("s", 2, "tool_execution_start"), event("s", 3, "turn_end")}
	for name, tc := range map[string]struct {
		section, updated string
		problems         int
	}{
		"left out":           {tool + "\n", tool + "\n", 0},
		"a tool is compared": {"", tool + "\n", 1},
		"all are compared": {
			streamDirective + "\n" + tool + "\n",
			streamDirective + "\n" + string(got[0].raw) + "\n" + tool + "\n" + string(got[2].raw) + "\n", 3,
		},
	} {
		c, err := parseConversation([]byte("-- client --\n-- server --\n"+tc.section), "testdata")
		require.NoError(t, err, name)
		require.Len(t, c.compareTurn(0, c.turns[0].lines(got)), tc.problems, name)
		want := txtar.Parse([]byte("-- client --\n-- server --\n" + tc.updated))
		require.JSONEq(t, jsonLines(want), jsonLines(c.archive), name)
		require.Equal(t, hasLine(want.Files[1].Data, streamDirective), hasLine(c.archive.Files[1].Data, streamDirective), name)
	}
}

// jsonLines returns the messages of the server section as one JSON array, without "jsonrpc".
func jsonLines(a *txtar.Archive) string {
	list := []any{}
	for _, line := range messageLines(a.Files[1].Data) {
		v, err := decodeAny(line)
		if m, ok := v.(map[string]any); ok && err == nil {
			delete(m, "jsonrpc")
		}
		list = append(list, v)
	}
	raw, _ := json.Marshal(list) // it was decoded from JSON
	return string(raw)
}

func TestSequenceNumbersHaveNoGaps(t *testing.T) {
	t.Parallel()
	var s sequence
	for _, m := range []*Message{
		event("a", 1, "turn_start"), event("a", 2, "turn_end"), event("b", 1, "x"), event("a", 3, "x"), event("b", 2, "x"),
		event("a", 1, "x"),
		{Method: "window/showMessage"},
		event("a", 2, "x"),
	} {
		require.Empty(t, s.check(0, m))
	}
	require.Len(t, s.check(0, event("a", 4, "x")), 1, "a gap")
	require.Len(t, s.check(0, event("b", 2, "x")), 1, "a repetition")
	require.Len(t, s.check(0, &Message{Method: "xcsh/event", Params: json.RawMessage(`[]`)}), 1)
}
