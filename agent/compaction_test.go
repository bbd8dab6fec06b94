package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// looking runs a turn of a model with a window of that size, whose answers, except for the last,
// all look something up, which takes 3000 tokens each time. It returns the number of compactions.
func countCompactions(t *testing.T, window, looks int, usage provider.Usage, summaries ...providertest.Reply) (turn agent.Turn, compactions int) {
	t.Helper()
	look := tool.Tool{Tool: provider.Tool{Name: "look"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		return tool.TextResult(strings.Repeat("word ", 2400)), nil
	}}
	summary := func(r providertest.Request) bool { return strings.Contains(r.System, "summarize") }
	answer := func(r providertest.Request) bool { return !summary(r) }
	m := &models{window: window}
	for range looks {
		m.Script("m", providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}, Usage: usage, When: answer})
	}
	m.Script("m", providertest.Reply{Text: "Done.", When: answer})
	for _, r := range summaries {
		r.When = summary
		m.Script("m", r)
	}
	w := newWorld(t, afero.NewMemMapFs(), withModel(m), withTools(look), func(c *agent.Config) {
		c.Now = beforeStore
	})
	turn = prompt(t, w.live(t, "/w"), "hi")
	return turn, len(eventsOf[event.CompactionStart](w))
}

func TestSmallWindows(t *testing.T) {
	t.Parallel()
	short := providertest.Reply{Text: "a summary"}
	turn, n := countCompactions(t, 32768, 10, provider.Usage{Input: 21000, Output: 1}, short, short, short)
	assert.Equal(t, provider.StopEnd, turn.StopReason)
	assert.LessOrEqual(t, n, 3, "a window of 32k is not compacted after every turn")
	turn, n = countCompactions(t, 8192, 3, provider.Usage{Input: 6500, Output: 1}, short, short, short)
	assert.Equal(t, provider.StopEnd, turn.StopReason)
	assert.Contains(t, []int{1, 2}, n, "a conversation of 9000 tokens is made to fit into 8k")
}

// A compaction that fails or does not help is not paid for again after every turn.
func TestAUselessCompactionIsNotRepeated(t *testing.T) {
	t.Parallel()
	for name, summary := range map[string]providertest.Reply{
		"fails":         {Text: ""},
		"does not help": {Text: strings.Repeat("a very long summary ", 2000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn, n := countCompactions(t, 8192, 6, provider.Usage{Input: 6500, Output: 1}, summary, summary, summary, summary, summary)
			require.Equal(t, provider.StopEnd, turn.StopReason)
			assert.Equal(t, 1, n)
		})
	}
}
