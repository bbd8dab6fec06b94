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

// strict is a service that enforces the limits of its two models: "m" has a window of 200k tokens,
// "large" one of 400k.
type strict struct{ *service }

const longestAnswer = 64_000

func newStrict(t *testing.T, api provider.API) strict {
	t.Helper()
	s := strict{newService(t, api)}
	for id, window := range windows {
		s.Limit(id, providertest.Limits{Window: window, Output: longestAnswer})
	}
	return s
}

var windows = map[string]int{"m": 200_000, "large": 400_000}

func (s strict) Find(_ context.Context, ref provider.Ref) (provider.Model, bool) {
	m := s.Model(s.api, ref.ID)
	m.ContextWindow, m.MaxTokens = windows[ref.ID], longestAnswer
	return m, m.ContextWindow > 0
}

// isSummary tells requests for summaries from those of turns.
func isSummary(r providertest.Request) bool { return strings.Contains(r.System, "summarize") }

func isTurn(r providertest.Request) bool { return !isSummary(r) }

func (s strict) world(t *testing.T, model string, tools ...tool.Tool) *world {
	t.Helper()
	return newWorld(t, afero.NewMemMapFs(), withTools(tools...), func(c *agent.Config) {
		c.Models, c.Defaults.Model, c.Defaults.Thinking, c.Retry.Disabled = s, "fake/"+model, provider.High, true
		c.Now = beforeStore
	})
}

// thinks reports whether the request asks for thinking.
func thinks(t *testing.T, r providertest.Request) bool {
	t.Helper()
	var body struct {
		Thinking  *struct{ Type string } `json:"thinking"`
		Effort    string                 `json:"reasoning_effort"`
		Reasoning *struct{ Effort string }
		Config    struct {
			Thinking struct{ IncludeThoughts bool } `json:"thinkingConfig"`
		} `json:"generationConfig"`
	}
	require.NoError(t, json.Unmarshal(r.Body, &body))
	return body.Thinking != nil && body.Thinking.Type == "enabled" || body.Effort == "high" ||
		body.Reasoning != nil && body.Reasoning.Effort == "high" || body.Config.Thinking.IncludeThoughts
}

// The count of an answer from before a compaction says nothing about the requests after it.
func TestRequestsAfterACompactionInATurn(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			s := newStrict(t, api)
			look := lookTool()
			look.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
			look.Run = func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
				return tool.TextResult(strings.Repeat("word ", 12_000)), nil // 15k tokens
			}
			for range 14 {
				s.Script("m", providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}, When: isTurn})
			}
			s.Script("m", providertest.Reply{Text: "Done.", When: isTurn}, providertest.Reply{Text: "a summary", When: isSummary})
			w := s.world(t, "m", look)
			turn := prompt(t, w.live(t, "/w"), "hi")
			require.Equal(t, provider.StopEnd, turn.StopReason)

			compactions := eventsOf[event.CompactionEnd](w)
			require.Len(t, compactions, 1)
			require.Empty(t, compactions[0].ErrorMessage)
			requests, after := s.Requests(), -1
			for i, r := range requests {
				if isSummary(r) {
					after = i + 1
				}
			}
			require.Positive(t, after)
			next := requests[after]
			assert.Less(t, next.Tokens(), 60_000)
			assert.Equal(t, longestAnswer, next.MaxTokens, "the whole answer")
			unknown := api == provider.BedrockConverse // where each maker of models has fields of its own
			assert.Equal(t, !unknown, thinks(t, next), string(next.Body[:200]))
		})
	}
}

func TestALongConversationMovesToASmallerModel(t *testing.T) {
	t.Parallel()
	for api := range clients {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			s := newStrict(t, api)
			s.Script("large", providertest.Reply{Text: "Noted."})
			s.Script("m", providertest.Reply{Text: "Done.", When: isTurn}, providertest.Reply{Text: "a summary", When: isSummary})
			w := s.world(t, "large")
			live := w.live(t, "/w")
			for range 6 {
				require.Equal(t, provider.StopEnd, prompt(t, live, strings.Repeat("word ", 40_000)).StopReason) // 50k tokens
			}
			_, err := live.SetModel(t.Context(), provider.Ref{Provider: "fake", ID: "m"}, "")
			require.NoError(t, err)
			turn := prompt(t, live, "and now?")
			require.Equal(t, provider.StopEnd, turn.StopReason)
			assert.Contains(t, string(turn.Message), "Done.")

			var summaries int
			for _, r := range s.Requests() {
				if isSummary(r) {
					summaries++
				}
			}
			assert.Greater(t, summaries, 1, "the conversation does not fit in one question to the smaller model")
			ends := eventsOf[event.CompactionEnd](w)
			require.Len(t, ends, 1)
			assert.Equal(t, "threshold", ends[0].Reason, "before the request, not after the service refused it")
		})
	}
}
