package loop_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// with runs a prompt with the given retries and returns how long it took.
func (h *host) with(t *testing.T, retry loop.Retry) (loop.Outcome, time.Duration) {
	t.Helper()
	q := new(loop.Queue)
	q.Start()
	began := time.Now()
	out := (&loop.Run{Host: h, Queue: q, Retry: retry, Now: time.Now}).Do(t.Context(), []provider.Message{say("hi")})
	return out, time.Since(began)
}

// A service that is overloaded asks for short delays, for long ones or for none.
func TestAnOverloadIsWaitedOutForTwoMinutes(t *testing.T) {
	t.Parallel()
	const least = 2 * time.Minute
	for name, c := range map[string]struct {
		after string
		retry loop.Retry
		most  time.Duration
		asked int
	}{
		"without a delay":         {"", loop.Retry{}, 2*time.Minute + 2*time.Second, 7},
		"with a short delay":      {"1", loop.Retry{}, 2*time.Minute + 2*time.Second, 7},
		"with a delay of nothing": {"0", loop.Retry{}, 2*time.Minute + 2*time.Second, 7},
		"with a longer delay":     {"90", loop.Retry{}, 9 * time.Minute, 7},
		"with a low limit":        {"1", loop.Retry{Limit: 10 * time.Second}, 2*time.Minute + 10*time.Second, 15},
		"with a tiny limit":       {"", loop.Retry{Limit: time.Second}, 2*time.Minute + 2*time.Second, 121},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := &host{}
				h.model.Script("m", providertest.Reply{Fault: providertest.OverloadedBefore, RetryAfter: c.after})
				out, took := h.with(t, c.retry)
				require.Error(t, out.Err)
				assert.GreaterOrEqual(t, took, least)
				assert.LessOrEqual(t, took, c.most)
				assert.Len(t, h.model.Requests(), c.asked)
			})
		})
	}
}

// A configured number of retries is exact, and so is the longest wait.
func TestConfiguredRetries(t *testing.T) {
	t.Parallel()
	overloaded := providertest.Reply{Fault: providertest.OverloadedBefore}
	for name, c := range map[string]struct {
		reply providertest.Reply
		retry loop.Retry
		asked int
		took  time.Duration
	}{
		"none":                            {overloaded, loop.Retry{Disabled: true}, 1, 0},
		"one":                             {overloaded, loop.Retry{Attempts: 1}, 2, 2 * time.Second},
		"five of a failing service":       {providertest.Reply{Fault: providertest.ServerError}, loop.Retry{Attempts: 5}, 6, (2 + 4 + 8 + 16 + 32) * time.Second},
		"many, whose delay stays bounded": {providertest.Reply{Fault: providertest.ServerError}, loop.Retry{Attempts: 100, Limit: 3 * time.Second}, 101, (2 + 99*3) * time.Second},
		"a long wait that is allowed":     {providertest.Reply{Fault: providertest.RateLimited, RetryAfter: "90"}, loop.Retry{Attempts: 1, Limit: 2 * time.Minute}, 2, 90 * time.Second},
		"a wait beyond the limit":         {providertest.Reply{Fault: providertest.OverloadedBefore, RetryAfter: "90"}, loop.Retry{Limit: time.Minute}, 1, 0},
		"a wait of an hour by default":    {providertest.Reply{Fault: providertest.OverloadedBefore, RetryAfter: "3600"}, loop.Retry{}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := &host{}
				h.model.Script("m", c.reply)
				out, took := h.with(t, c.retry)
				require.Error(t, out.Err)
				assert.Equal(t, c.took, took)
				assert.Len(t, h.model.Requests(), c.asked)
			})
		})
	}
}

// An earlier failure of another kind does not use up the one retry of an empty answer.
func TestAnEmptyAnswerAfterAnotherFailureIsRequestedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		h.model.Script(
			"m", providertest.Reply{Fault: providertest.ServerError}, providertest.Reply{Thinking: "hm"},
			providertest.Reply{Fault: providertest.ServerError}, providertest.Reply{},
		)
		out, _ := h.with(t, loop.Retry{Attempts: 9})
		var cause *provider.Error
		require.ErrorAs(t, out.Err, &cause)
		assert.Equal(t, provider.Empty, cause.Class)
		assert.Len(t, h.model.Requests(), 4, "the second empty answer is reported")
		var shown [][2]int
		for _, e := range eventsOf[event.RetryStart](h) {
			shown = append(shown, [2]int{e.Attempt, e.MaxAttempts})
		}
		assert.Equal(t, [][2]int{{1, 9}, {2, 2}, {3, 9}}, shown)
	})
}

// A model that thinks up to its output limit has another problem than one that says nothing.
func TestAnEmptyAnswerAtTheOutputLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		h.model.Script("m", providertest.Reply{Thinking: "hm", Stop: provider.StopLength})
		out, _ := h.with(t, loop.Retry{})
		require.EqualError(t, out.Err, "the answer of p/m is empty; it reached the model's output limit")
		assert.Len(t, h.model.Requests(), 2)
	})
}

// Retries that ended are not reported again by what happens later in the run.
func TestRetriesEndOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &host{tools: map[string]tool.Tool{"look": reader("look", echo("seen"))}}
		h.model.Script("m", providertest.Reply{Fault: providertest.ServerError}, providertest.Reply{ToolCalls: calls("look")}, providertest.Reply{Fault: providertest.BadKey})
		out, _ := h.with(t, loop.Retry{})
		require.Error(t, out.Err)
		assert.Equal(t, []event.RetryEnd{{Attempt: 1, Success: true}}, eventsOf[event.RetryEnd](h))
	})
}

// A question beside the conversation has the same retries as a turn.
func TestAQuestionIsRepeatedAsConfigured(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		h.model.Script("m", providertest.Reply{Fault: providertest.ServerError})
		_, err := loop.Ask(t.Context(), loop.Retry{Attempts: 2}, h.Emit, h.Request)
		require.Error(t, err)
		assert.Len(t, h.model.Requests(), 3)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = loop.Ask(ctx, loop.Retry{}, h.Emit, h.Request)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
