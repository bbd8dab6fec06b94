package loop_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// The user chooses whether queued messages are sent one after another or at once.
func TestQueuedMessagesAreSentTogether(t *testing.T) {
	t.Parallel()
	for all, want := range map[bool][]string{
		false: {"user:hi", "assistant:", "toolResult:seen", "user:one", "assistant:A.", "user:two", "assistant:B."},
		true:  {"user:hi", "assistant:", "toolResult:seen", "user:one", "user:two", "assistant:A."},
	} {
		q := new(loop.Queue)
		q.Together(loop.Steering, all)
		h := &host{}
		h.tools = map[string]tool.Tool{"look": reader("look", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			assert.True(t, q.Push(loop.Steering, say("one")))
			assert.True(t, q.Push(loop.Steering, say("two")))
			return tool.TextResult("seen"), nil
		})}
		h.model.Script("m", providertest.Reply{ToolCalls: calls("look")}, providertest.Reply{Text: "A."}, providertest.Reply{Text: "B."})
		h.do(t.Context(), q)
		var texts []string
		for _, m := range h.messages {
			texts = append(texts, m.Role+":"+m.PlainText())
		}
		assert.Equal(t, want, texts)
	}
}
