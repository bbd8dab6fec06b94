package offline_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/offline"
)

// ask returns the message of the script's answer and the streamed text.
func ask(ctx context.Context, t *testing.T, messages ...provider.Message) (provider.Event, string) {
	t.Helper()
	req := provider.Request{Model: offline.Model, Messages: messages, Tools: []provider.Tool{{Name: "ls"}}}
	var text strings.Builder
	var events []provider.Event
	for e := range (offline.Provider{Now: func() time.Time { return time.UnixMilli(7) }}).Stream(ctx, req) {
		events = append(events, e)
		if e.Kind == provider.TextDelta {
			text.WriteString(e.Delta)
		}
	}
	require.NotEmpty(t, events)
	assert.Equal(t, provider.Start, events[0].Kind)
	return events[len(events)-1], text.String()
}

func user(text string) provider.Message {
	return provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}}
}

// A prompt can ask for several calls, one in each answer, for each of which the script gets a result.
func TestRepeatedToolCalls(t *testing.T) {
	t.Parallel()
	for prompt, calls := range map[string]int{
		"repeat 3: what is here?": 3, "repeat 1: what is here?": 1, "repeat 0: what is here?": 1, "what is here?": 1,
		"repeat 1000: what is here?": 1, "do not repeat 3: this": 1, "Repeat 3": 1,
	} {
		earlier := provider.Message{Role: provider.RoleToolResult, ToolName: "ls", Content: []provider.Block{provider.Text("one\n")}}
		messages, ids := []provider.Message{user("before"), earlier, user(prompt)}, map[string]bool{}
		for {
			end, _ := ask(t.Context(), t, messages...)
			require.Equal(t, provider.Done, end.Kind, prompt)
			made := end.Message.ToolCalls()
			if len(made) == 0 {
				assert.Contains(t, end.Message.PlainText(), "The tool ls returned 1 line.")
				break
			}
			require.Len(t, made, 1)
			assert.Equal(t, "ls", made[0].Name)
			assert.Contains(t, end.Message.PlainText(), "It lists this folder")
			ids[made[0].ID] = true
			messages = append(messages, *end.Message, earlier)
		}
		assert.Len(t, ids, calls, prompt)
	}
}

func TestOneToolCallPerPrompt(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]struct{ tool, args string }{
		"what is here?":                    {"ls", `{}`},
		"read main.go please":              {"read", `{"path":"main.go"}`},
		"look at src/util/a.ts, and say":   {"read", `{"path":"src/util/a.ts"}`},
		"edit a.txt: one => two":           {"edit", `{"path":"a.txt","edits":[{"oldText":"one","newText":"two"}]}`},
		"edit a.txt: x = 1\ny => x = 2\nz": {"edit", `{"path":"a.txt","edits":[{"oldText":"x = 1\ny","newText":"x = 2\nz"}]}`},
	} {
		end, text := ask(t.Context(), t, user(prompt))
		require.Equal(t, provider.Done, end.Kind, prompt)
		assert.Equal(t, provider.StopToolUse, end.Message.StopReason, prompt)
		calls := end.Message.ToolCalls()
		require.Len(t, calls, 1, prompt)
		assert.Equal(t, want.tool, calls[0].Name, prompt)
		assert.JSONEq(t, want.args, string(calls[0].Arguments), prompt)
		assert.NotEmpty(t, calls[0].ID)
		assert.Contains(t, text, "a script, not a model")
		assert.Equal(t, text, end.Message.PlainText(), "the streamed text equals the stored text")
		assert.Equal(t, provider.Scripted, end.Message.API)
		assert.Zero(t, end.Message.Usage.Cost.Total)
	}
}

func TestResultEndsTheTurn(t *testing.T) {
	t.Parallel()
	failed := true
	result := provider.Message{Role: provider.RoleToolResult, ToolName: "ls", Content: []provider.Block{provider.Text("a\nb\n")}}
	end, text := ask(t.Context(), t, user("hi"), result)
	assert.Equal(t, provider.StopEnd, end.Message.StopReason)
	assert.Empty(t, end.Message.ToolCalls())
	assert.Contains(t, text, "The tool ls returned 2 lines.")

	result.IsError, result.Content = &failed, []provider.Block{provider.Text("no such folder\nx")}
	_, text = ask(t.Context(), t, user("hi"), result)
	assert.Contains(t, text, "The tool ls failed: no such folder.")
}

func TestStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	end, _ := ask(ctx, t, user("hi"))
	require.Equal(t, provider.Failed, end.Kind)
	assert.Equal(t, provider.Aborted, end.Err.Class)
	assert.Equal(t, provider.StopAborted, end.Message.StopReason)
}
