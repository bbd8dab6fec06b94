package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/providertest"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
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

// unasked is a host that knows no model.
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
				case loop.TurnStart:
					open++
				case loop.TurnEnd:
					open--
				}
			}
			assert.Zero(t, open, "%v", h.types())
		})
	}
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
	assert.Len(t, h.model.Requests(), 500)
}

// What failed to shorten the conversation is not tried after every turn.
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

// A tool is no reason for the process to end.
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

// panicking is a host whose screen fails at the end of a call.
type panicking struct{ *host }

func (p panicking) Emit(e loop.Event) {
	if e.Type == loop.ToolEnd {
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

// The last list that is shown is what waits.
func TestTheQueueIsToldAsItIs(t *testing.T) {
	t.Parallel()
	q := new(loop.Queue)
	q.Start()
	require.True(t, q.Push(loop.Steering, say("a")))
	require.True(t, q.Push(loop.FollowUp, say("b")))
	var shown loop.Event
	q.Tell(func(e loop.Event) { shown = e })
	assert.Equal(t, loop.Event{Type: loop.QueueChanged, Steering: []string{"a"}, FollowUp: []string{"b"}}, shown)
}

// Who is shown that a question is asked again is shown what became of that.
func TestRetriesOfAQuestionEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replies []providertest.Reply
		limit   time.Duration
		want    []string
	}{
		"cancelled":        {[]providertest.Reply{{Fault: providertest.ServerError}}, time.Second, []string{loop.RetryStart, loop.RetryEnd}},
		"too long a wait":  {[]providertest.Reply{{Fault: providertest.ServerError}, {Fault: providertest.RateLimited, RetryAfter: "90"}}, time.Hour, []string{loop.RetryStart, loop.RetryEnd}},
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
