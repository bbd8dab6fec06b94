package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// refusing is a host that takes no more messages from the n-th on.
type refusing struct {
	*host
	n int
}

func (r *refusing) Record(m json.RawMessage) (string, error) {
	if r.n--; r.n <= 0 {
		return "", errors.New("it can be read but not changed")
	}
	return r.host.Record(m)
}

// unasked is a host without a model.
type unasked struct{ *host }

func (unasked) Request(context.Context) (provider.Provider, provider.Request, error) {
	return nil, provider.Request{}, errors.New("no model")
}

func doAt(t *testing.T, h loop.Host) loop.Outcome {
	t.Helper()
	q := new(loop.Queue)
	q.Start()
	r := loop.Run{Host: h, Queue: q, Now: time.Now}
	return r.Do(t.Context(), []provider.Message{say("hi")})
}

func TestCallsOfARefusedAnswerAreNotRun(t *testing.T) {
	t.Parallel()
	ran := false
	h := &host{tools: map[string]tool.Tool{"rm": writer("rm", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		ran = true
		return tool.TextResult("gone"), nil
	})}}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("rm")}, providertest.Reply{Text: "Done."})
	out := doAt(t, &refusing{h, 2})
	assert.False(t, ran)
	assert.Equal(t, provider.StopError, out.StopReason)
	assert.Len(t, h.model.Requests(), 1)
}

func TestEveryTurnEnds(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func(*host) loop.Host{
		"nothing can be asked":   func(h *host) loop.Host { return unasked{h} },
		"the prompt is refused":  func(h *host) loop.Host { return &refusing{h, 1} },
		"the answer is refused":  func(h *host) loop.Host { return &refusing{h, 2} },
		"the service has failed": func(h *host) loop.Host { h.model.Script("m", providertest.Reply{Fault: providertest.BadKey}); return h },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := new(host)
			under := in(h)
			h.model.Script("m", providertest.Reply{Text: "Done."})
			out := doAt(t, under)
			require.Error(t, out.Err)
			open := 0
			for _, e := range h.types() {
				switch e {
				case "turn_start":
					open++
				case "turn_end":
					open--
				}
			}
			assert.Zero(t, open, "%v", h.types())
		})
	}
}

// requireLimit requires the error of a limit, which is not a defect of the server.
func requireLimit(t *testing.T, err error, limit string) {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Limit, f.Kind)
	require.Equal(t, limit, f.Data["limit"])
}

func TestRoundsAreLimited(t *testing.T) {
	t.Parallel()
	h := &host{tools: map[string]tool.Tool{"look": reader("look", echo("seen"))}}
	for range 600 {
		h.model.Script("m", providertest.Reply{ToolCalls: calls("look")})
	}
	out := doAt(t, h)
	assert.Equal(t, provider.StopError, out.StopReason)
	require.ErrorContains(t, out.Err, "500 rounds")
	requireLimit(t, out.Err, "rounds")
	assert.Len(t, h.model.Requests(), 500)
}

// A compaction that did not shorten the conversation is not retried after every turn.
func TestAFailedCompactionIsNotRepeated(t *testing.T) {
	t.Parallel()
	asked := 0
	h := &host{
		tools:   map[string]tool.Tool{"look": reader("look", echo("seen"))},
		compact: func(bool) (bool, error) { asked++; return false, errors.New("no summary") },
	}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("look")}, providertest.Reply{ToolCalls: calls("look")}, providertest.Reply{Text: "Done."})
	out := doAt(t, h)
	require.NoError(t, out.Err)
	assert.Equal(t, 1, asked)
}

// A failing tool does not end the process.
func TestAResultThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	h := &host{tools: map[string]tool.Tool{"odd": reader("odd", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		return tool.Result{Details: json.RawMessage("{")}, nil
	})}}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("odd")}, providertest.Reply{Text: "Done."})
	out := doAt(t, h)
	require.NoError(t, out.Err)
	assert.Equal(t, "user assistant toolResult assistant", h.roles())
	assert.Contains(t, h.messages[2].PlainText(), "failed unexpectedly")
}

// panicking is a host whose display fails at the end of a call.
type panicking struct{ *host }

func (p panicking) Emit(e event.Event) {
	if _, ended := e.(event.ToolEnd); ended {
		panic("no screen")
	}
	p.host.Emit(e)
}

func TestAScreenThatFailsLeavesTheResult(t *testing.T) {
	t.Parallel()
	h := &host{tools: map[string]tool.Tool{"look": reader("look", echo("seen"))}}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("look", "look")}, providertest.Reply{Text: "Done."})
	require.NoError(t, doAt(t, panicking{h}).Err)
	assert.Equal(t, "user assistant toolResult toolResult assistant", h.roles())
	assert.Equal(t, "seen", h.messages[3].PlainText())
}

// The last published list matches the queue.
func TestQueueEventsMatchTheQueue(t *testing.T) {
	t.Parallel()
	q := new(loop.Queue)
	q.Start()
	require.True(t, q.Push(loop.Steering, say("a")))
	require.True(t, q.Push(loop.FollowUp, say("b")))
	var shown event.Event
	q.Publish(func(e event.Event) { shown = e })
	assert.Equal(t, event.QueueChanged{Steering: []string{"a"}, FollowUp: []string{"b"}}, shown)
}

// A subscriber that is notified of a question's retry is also notified of its outcome.
func TestRetriesOfAQuestionEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replies []providertest.Reply
		limit   time.Duration
		want    []string
	}{
		"cancelled":        {[]providertest.Reply{{Fault: providertest.ServerError}}, time.Second, []string{"auto_retry_start", "auto_retry_end"}},
		"too long a wait":  {[]providertest.Reply{{Fault: providertest.ServerError}, {Fault: providertest.RateLimited, RetryAfter: "90"}}, time.Hour, []string{"auto_retry_start", "auto_retry_end"}},
		"too long at once": {[]providertest.Reply{{Fault: providertest.RateLimited, RetryAfter: "90"}}, time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := &host{}
				h.model.Script("m", c.replies...)
				ctx, cancel := context.WithTimeout(t.Context(), c.limit)
				defer cancel()
				_, err := loop.Ask(ctx, loop.Retry{}, h.Emit, h.Request)
				require.Error(t, err)
				assert.Equal(t, c.want, h.types())
			})
		})
	}
}

func TestTheSameFailureEndsTheTurn(t *testing.T) {
	t.Parallel()
	failing := func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		return tool.Result{}, errors.New("no such file")
	}
	h := &host{tools: map[string]tool.Tool{"look": reader("look", failing)}}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("look")})
	out := h.do(t.Context(), new(loop.Queue))
	require.ErrorContains(t, out.Err, "the same call of look failed 3 times in the same way")
	requireLimit(t, out.Err, "sameFailure")
	assert.Len(t, h.model.Requests(), 3)
	assert.Equal(t, 3, strings.Count(h.roles(), "toolResult"), "each call has its result")
}

// Tests that fail are run again after each change.
func TestFailuresWithASuccessBetweenAreAllowed(t *testing.T) {
	t.Parallel()
	failing := func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		return tool.Result{}, errors.New("FAIL")
	}
	h := &host{tools: map[string]tool.Tool{"test": reader("test", failing), "edit": writer("edit", echo("changed"))}}
	for range 5 {
		h.model.Script("m", providertest.Reply{ToolCalls: calls("test")}, providertest.Reply{ToolCalls: calls("edit")})
	}
	h.model.Script("m", providertest.Reply{Text: "Done."})
	require.NoError(t, h.do(t.Context(), new(loop.Queue)).Err)
}
