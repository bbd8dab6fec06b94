package agentbase_test

import (
	"encoding/json"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
)

func entriesOf(lines ...string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for _, line := range lines {
			if !yield(json.RawMessage(line), nil) {
				return
			}
		}
	}
}

// branch is one entry of every kind.
var branch = entriesOf(
	`{"type":"custom","customType":"xcsh-ls.import","data":{},"id":"e0","timestamp":"2026-01-01T00:00:00.000Z"}`,
	`{"type":"custom","customType":"xcsh-ls.import.system","data":{"content":"be brief"},"id":"e1","timestamp":"2026-01-01T00:00:01.000Z"}`,
	`{"type":"message","id":"e2","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"hi"}}`,
	`{"type":"message","id":"e3","timestamp":"never","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}}`,
	`{"type":"message","id":"e4","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"assistant","content":[{"type":"thinking"},{"type":"toolCall"}]}}`,
	`{"type":"message","id":"e5","timestamp":"2026-01-01T00:00:05.000Z","message":{"role":"toolResult","toolCallId":"c","toolName":"ls","content":[{"type":"text","text":"x"},{"type":"image"}]}}`,
	`{"type":"message","id":"e6","timestamp":5,"message":{"role":"assistant","content":[{"type":"redactedThinking"},{"type":"text","text":""}]}}`,
	`{"type":"message","id":"e7","message":{"role":"bashExecution","command":"ls"}}`,
	`{"type":"message","id":"e8","message":{"role":"custom","content":"x"}}`,
	`{"type":"message","id":"e9","message":{"role":"oracle"}}`,
	`{"type":"custom_message","id":"f0"}`, `{"type":"compaction","id":"f1"}`, `{"type":"branch_summary","id":"f2"}`, `{"type":"label","id":"f3"}`,
	`{"type":"custom","customType":"xcsh-ls.import.tool","data":{"content":"out","name":"n","toolCallId":"t"},"id":"f4","message":{"timestamp":7000}}`,
	`{"type":"custom","customType":"xcsh-ls.import.tool","data":{"content":"Called x()","calls":[{},{}]},"id":"f5"}`,
	`{"type":"custom","customType":"xcsh-ls.import.other","data":{"content":"?"},"id":"f6"}`,
	`{"type":"custom","customType":"an.extension","data":{"content":"?"},"id":"f7"}`,
)

func TestBranchWithoutTools(t *testing.T) {
	t.Parallel()
	losses := agentbase.Losses{}
	var got []agentbase.Message
	for m, err := range (agentbase.Branch{Entries: branch}).Messages(losses) {
		require.NoError(t, err)
		got = append(got, m)
	}
	require.Equal(t, []agentbase.Message{
		{Role: "system", Text: "be brief", ID: "e1", At: at("2026-01-01T00:00:01Z")},
		{Role: "user", Text: "hi", ID: "e2", At: at("2026-01-01T00:00:02Z")},
		{Role: "user", Text: "a\nb", ID: "e3", At: at("2026-01-01T00:00:02.001Z")},
		{Role: "assistant", Text: "", ID: "e6", At: at("1970-01-01T00:00:00.005Z")},
	}, got)
	require.Equal(t, agentbase.Losses{
		"images": 1, "thinking": 2, "toolCalls": 3, "toolResults": 2, "commands": 1, "customMessages": 2, "summaries": 2, "other": 2,
	}, losses)
}

func TestBranchWithTools(t *testing.T) {
	t.Parallel()
	losses := agentbase.Losses{}
	var tools []agentbase.Message
	for m, err := range (agentbase.Branch{Entries: branch, Tools: true}).Messages(losses) {
		require.NoError(t, err)
		if m.Role == "tool" {
			tools = append(tools, m)
		}
	}
	require.Equal(t, []agentbase.Message{
		{Role: "tool", Text: "x", Name: "ls", ToolCallID: "c", ID: "e5", At: at("2026-01-01T00:00:05Z")},
		{Role: "tool", Text: "out", Name: "n", ToolCallID: "t", ID: "f4", At: at("1970-01-01T00:00:07Z")},
	}, tools)
	require.Equal(t, 2, losses["images"])
	require.Zero(t, losses["toolResults"])
}

func TestBranchReportsErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	entries := func(yield func(json.RawMessage, error) bool) { yield(nil, broken) }
	for _, err := range (agentbase.Branch{Entries: entries}).Messages(nil) {
		require.ErrorIs(t, err, broken)
	}
}
