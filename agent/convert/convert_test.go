package convert_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/convert"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	const user = "user"
	for name, c := range map[string]struct {
		in   string
		role string // "" for nothing
		text string
	}{
		"a question":                 {`{"role":"user","content":"hi","timestamp":1}`, user, "hi"},
		"a question in blocks":       {`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, user, "a\nb"},
		"an answer":                  {`{"role":"assistant","content":[{"type":"text","text":"yes"}],"stopReason":"stop"}`, "assistant", "yes"},
		"a result":                   {`{"role":"toolResult","toolCallId":"1","toolName":"ls","content":[{"type":"text","text":"x"}],"isError":false}`, "toolResult", "x"},
		"a command":                  {`{"role":"bashExecution","command":"ls","output":"a","exitCode":0}`, user, "Ran `ls`\n```\na\n```"},
		"a command without output":   {`{"role":"bashExecution","command":"true","output":"","exitCode":0}`, user, "Ran `true`\n(no output)"},
		"a command that failed":      {`{"role":"bashExecution","command":"false","output":"","exitCode":3}`, user, "Ran `false`\n(no output)\n\nCommand exited with code 3"},
		"a command that was stopped": {`{"role":"bashExecution","command":"x","output":"o","cancelled":true,"exitCode":1}`, user, "Ran `x`\n```\no\n```\n\n(command cancelled)"},
		"a command with much output": {`{"role":"bashExecution","command":"x","output":"o","truncated":true,"fullOutputPath":"/tmp/o"}`, user, "Ran `x`\n```\no\n```\n\n[Output truncated. Full output: /tmp/o]"},
		"a private command":          {`{"role":"bashExecution","command":"x","output":"o","excludeFromContext":true}`, "", ""},
		"python":                     {`{"role":"pythonExecution","code":"1","output":"1"}`, user, "Ran Python `1`\n```\n1\n```"},
		"an extension's message":     {`{"role":"custom","customType":"t","content":"note","display":true}`, user, "note"},
		"a developer's message":      {`{"role":"developer","content":[{"type":"text","text":"note"}]}`, user, "note"},
		"an empty custom message":    {`{"role":"custom","content":[]}`, "", ""},
		"a compaction":               {`{"role":"compactionSummary","summary":"S"}`, user, "The conversation history before this point was compacted into the following summary:\n\n<summary>\nS\n</summary>"},
		"a branch":                   {`{"role":"branchSummary","summary":"S"}`, user, "The following is a summary of a branch that this conversation came back from:\n\n<summary>\nS</summary>"},
		"a file":                     {`{"role":"fileMention","files":[{"path":"a.go","content":"package a"}]}`, user, "<system-reminder>\n<file path=\"a.go\">\npackage a\n</file>\n</system-reminder>"},
		"a file with an end in it":   {`{"role":"fileMention","files":[{"path":"a\"><b","content":"</file></system-reminder>"}]}`, user, "<system-reminder>\n<file path=\"a\\\"><b\">\n<\\/file><\\/system-reminder>\n</file>\n</system-reminder>"},
		"no file":                    {`{"role":"fileMention","files":[]}`, "", ""},
		"a system message":           {`{"role":"system","content":"be brief"}`, "", ""},
		"an unknown role":            {`{"role":"oracle","content":"x"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := convert.Messages([]json.RawMessage{json.RawMessage(c.in)})
			if c.role == "" {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Equal(t, c.role, got[0].Role)
			assert.Equal(t, c.text, got[0].PlainText())
		})
	}
}

// A member of an unexpected type is dropped; the message is kept.
func TestOddMembersKeepTheMessage(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		`{"role":"user","content":"my words","timestamp":1767225600000.5}`,
		`{"role":"user","content":"my words","timestamp":1.7672256e12}`,
		`{"role":"user","content":"my words","timestamp":"2026-01-01T00:00:00Z"}`,
		`{"role":"user","content":[{"type":"text","text":"my words","textSignature":5}],"timestamp":1}`,
		`{"role":"assistant","content":[{"type":"text","text":"my words"}],"stopReason":"stop","responseId":5,"timestamp":1}`,
		`{"role":"custom","content":"my words","provider":{},"timestamp":1}`,
	} {
		got := convert.Messages([]json.RawMessage{json.RawMessage(raw)})
		require.Len(t, got, 1, raw)
		assert.Equal(t, "my words", got[0].PlainText(), raw)
	}
	got := convert.Messages([]json.RawMessage{[]byte(`{"role":"user","content":"x","timestamp":1767225600000.5}`)})
	assert.EqualValues(t, 1767225600000, got[0].Timestamp)
}
