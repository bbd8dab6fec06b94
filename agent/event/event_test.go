package event_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/background"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// special has every character that an encoder may write in more than one way.
const special = "<a & b>\n\"ü\" 😀 \u2028\u2029\x00\x7f \xff"

// wireEvents are events of every type, with all members set, with none set, and as they are sent.
func wireEvents() []event.Event {
	raw := json.RawMessage(`{"b":1.0,"a":"<&>\u003c` + "\u2028" + `" , "n":null}`)
	empty := []string{}
	texts := []string{"one", special}
	block := &provider.Block{Type: provider.TypeText, Text: special}
	call := &provider.Block{Type: provider.TypeToolCall, ID: "c", Name: "read", Arguments: []byte(`{"path":"<a>"}`)}
	return []event.Event{
		event.AgentStart{},
		event.AgentEnd{},
		event.AgentEnd{StopReason: "stop", Unanswered: empty},
		event.AgentEnd{StopReason: "error", ErrorMessage: special, Unanswered: texts},
		event.AgentEnd{StopReason: "error", ErrorMessage: special, Rejection: &event.Rejection{Message: "not shown", EntryID: "e", Actions: []event.Action{
			{Title: "Compact", Command: "xcsh.compact", Arguments: map[string]any{}},
			{Title: special, Command: "xcsh.branch", Arguments: map[string]any{"entryId": "e"}},
		}}},
		event.TurnStart{},
		event.TurnEnd{},
		event.TurnEnd{Message: raw, ToolResults: []json.RawMessage{}},
		event.TurnEnd{Message: raw, ToolResults: []json.RawMessage{raw, raw}},
		event.MessageStart{},
		event.MessageStart{Message: raw},
		event.MessageUpdate{Update: event.Update{}},
		event.MessageUpdate{Update: event.Update{Type: "text_delta", Delta: special}},
		event.MessageUpdate{Update: event.Update{Type: "thinking_delta", ContentIndex: 1, Delta: "hm"}},
		event.MessageUpdate{Update: event.Update{Type: "toolcall_start", ContentIndex: 2, ToolCallID: "c", ToolName: "read"}},
		event.MessageUpdate{Update: event.Update{Type: "toolcall_delta", ContentIndex: 2, Delta: `{"path":`}},
		event.MessageUpdate{Update: event.Update{Type: "text_end", Block: block}},
		event.MessageUpdate{Update: event.Update{Type: "thinking_end", Block: &provider.Block{Type: provider.TypeThinking, Thinking: "hm"}}},
		event.MessageUpdate{Update: event.Update{Type: "toolcall_end", ContentIndex: 2, ToolCallID: "c", ToolName: "read", Block: call}},
		event.MessageEnd{},
		event.MessageEnd{Message: raw},
		event.MessageEnd{Message: raw, EntryID: "e"},
		event.ToolStart{},
		event.ToolStart{ToolCallID: "c", ToolName: special, Args: raw},
		event.ToolStart{ToolCallID: "c/1", ToolName: "read", Args: raw, ParentToolCallID: "c"},
		event.ToolUpdate{},
		event.ToolUpdate{ToolCallID: "c/1", ToolName: "read", PartialResult: raw, ParentToolCallID: "c"},
		event.ToolUpdate{ToolCallID: "c", ToolName: "read", PartialResult: raw},
		event.ToolEnd{},
		event.ToolEnd{ToolCallID: "c", ToolName: "read", Result: raw},
		event.ToolEnd{ToolCallID: "c", ToolName: "read", Result: raw, IsError: true},
		event.ToolEnd{ToolCallID: "c/1", ToolName: "read", Result: raw, ParentToolCallID: "c"},
		event.RetryStart{},
		event.RetryStart{Attempt: 1, MaxAttempts: 3, DelayMs: 2000, Reason: provider.RateLimit, ErrorMessage: special},
		event.RetryEnd{Attempt: 2, Success: true},
		event.RetryEnd{Attempt: 3, Success: false, ErrorMessage: special},
		event.QueueChanged{},
		event.QueueChanged{Steering: empty, FollowUp: empty},
		event.QueueChanged{Steering: texts, FollowUp: texts},
		event.NotSaved{},
		event.NotSaved{ErrorMessage: special},
		event.ModelChanged{Model: provider.Ref{}},
		event.ModelChanged{Model: provider.Ref{Provider: "p", ID: "m"}, Role: "default"},
		event.ThinkingLevelChanged{},
		event.ThinkingLevelChanged{ThinkingLevel: "high"},
		event.AgentEnd{StopReason: "stop", Changes: &event.FileChanges{Files: 1, Added: 2, Removed: 3, Limits: empty}},
		event.ChangesChanged{},
		event.ChangesChanged{Totals: wire.Totals{Files: 1, Added: 2, Removed: 3, Pending: 4}, Paths: []string{special}, Record: "r"},
		event.Rewound{},
		event.Rewound{ID: "r", Files: 2, Redo: true, Conversation: true},
		event.ForeignBranch{},
		event.ForeignBranch{BranchID: "a", EntryID: "b", Entries: 2, Program: "pi", Prompt: special, Text: "pi continued on another branch."},
		event.LargeSession{},
		event.LargeSession{Bytes: 1 << 40, Text: special},
		event.TeamState{},
		event.TeamState{State: "offline", Unsent: 3},
		event.TeamWriter{},
		event.TeamWriter{SID: "1f9d", Device: special, Owner: "kim"},
		event.TeamForked{},
		event.TeamForked{SID: "1f9d", Origin: "77aa", By: special, At: "2026-11-28T14:02:00Z"},
		event.Notice{},
		event.Notice{Text: special},
		event.Error{},
		event.Error{Text: "The shell command could not be run.", ErrorMessage: special, Kind: "busy"},
		event.ApprovalsChanged{Approvals: json.RawMessage(`[]`)},
		event.ApprovalsChanged{Approvals: json.RawMessage(`[{"id":"<1>"}]`)},
		event.ApprovalModeChanged{Mode: "yolo"},
		event.ModeChanged{},
		event.ModeChanged{Mode: "plan"},
		event.SessionInfoChanged{},
		event.SessionInfoChanged{Name: special},
		event.CompactionStart{},
		event.CompactionStart{Reason: "manual"},
		event.CompactionEnd{},
		event.CompactionEnd{Reason: "overflow", WillRetry: true, Result: raw},
		event.CompactionEnd{Reason: "threshold", Aborted: true, ErrorMessage: special},
		event.BackgroundChanged{},
		event.BackgroundChanged{Running: []background.Info{{ID: "bg-a", Command: special, StartedAt: 1}}},
		event.BashUpdate{},
		event.BashUpdate{Text: special},
		event.BashEnd{Message: raw},
		event.BashEnd{Message: raw, EntryID: "e"},
	}
}

// The wire form of an event never changes: each is encoded with and without the escapes of HTML, by
// itself and within a notification.
func TestWireFormOfEveryEvent(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	plain, escaping := json.NewEncoder(&b), json.NewEncoder(&b)
	plain.SetEscapeHTML(false)
	for _, e := range wireEvents() {
		require.NoError(t, plain.Encode(e))
		require.NoError(t, escaping.Encode(struct {
			Event event.Event `json:"event"`
		}{e}))
	}
	golden := filepath.Join("testdata", "events.jsonl")
	if *update {
		require.NoError(t, os.WriteFile(golden, b.Bytes(), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String())
}
