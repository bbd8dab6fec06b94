package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// host is a session in memory that records all calls in order.
type host struct {
	model providertest.Scripted
	tools map[string]tool.Tool

	find    func(call provider.Block) (loop.Meant, bool, error)
	permit  func(call provider.Block) error
	compact func(overflow bool) (bool, error)
	record  func(n int) error // fails the n-th record, counted from 1

	mu       sync.Mutex
	messages []provider.Message // recorded
	events   []event.Event
	story    []string // records and events, interleaved
	started  []string // tools
}

func (h *host) Record(m json.RawMessage) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	message, err := provider.DecodeMessage(m)
	if err != nil {
		return "", err
	}
	h.messages = append(h.messages, message)
	h.story = append(h.story, "record "+message.Role)
	if h.record != nil {
		if err := h.record(len(h.messages)); err != nil {
			return fmt.Sprint("e", len(h.messages)), err
		}
	}
	return fmt.Sprint("e", len(h.messages)), nil
}

func (h *host) Emit(e event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	h.story = append(h.story, e.Type())
}

func (h *host) Request(context.Context) (provider.Provider, provider.Request, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return &h.model, provider.Request{Model: provider.Model{ID: "m", Provider: "p", API: provider.Scripted}, Messages: slices.Clone(h.messages)}, nil
}

func (h *host) Tools(context.Context) (map[string]tool.Tool, tool.Env) {
	return h.tools, tool.Env{Cwd: "/w"}
}

func (h *host) Find(_ context.Context, call provider.Block) (loop.Meant, bool, error) {
	if h.find == nil {
		return loop.Meant{}, false, nil
	}
	return h.find(call)
}

func (h *host) Permit(_ context.Context, call provider.Block, _ tool.Tool, _ json.RawMessage) (tool.Permission, error) {
	if h.permit == nil {
		return tool.Permission{}, nil
	}
	return tool.Permission{}, h.permit(call)
}

func (h *host) Starting(call provider.Block) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.started = append(h.started, call.Name)
	return nil
}

func (h *host) Repair(*provider.Error) (string, bool) { return "", false }

func (h *host) Rejected(*provider.Error, []provider.Message) *event.Rejection { return nil }

func (h *host) Compact(_ context.Context, overflow bool) (bool, error) {
	if h.compact == nil {
		return false, nil
	}
	return h.compact(overflow)
}

// eventsOf returns the events of one type.
func eventsOf[E event.Event](h *host) (events []E) {
	for _, e := range h.events {
		if e, ok := e.(E); ok {
			events = append(events, e)
		}
	}
	return events
}

// types are the types of the events, without the pieces of answers.
func (h *host) types() []string {
	var types []string
	for _, e := range h.events {
		if e.Type() != "message_update" {
			types = append(types, e.Type())
		}
	}
	return types
}

func (h *host) roles() string {
	var roles []string
	for _, m := range h.messages {
		roles = append(roles, m.Role)
	}
	return strings.Join(roles, " ")
}

// do runs one prompt.
func (h *host) do(ctx context.Context, q *loop.Queue) loop.Outcome {
	q.Start()
	r := loop.Run{Host: h, Queue: q, Now: time.Now}
	return r.Do(ctx, []provider.Message{say("hi")})
}

func say(text string) provider.Message {
	return provider.Message{Role: provider.RoleUser, Content: []provider.Block{provider.Text(text)}}
}

// reader is a tool that only reads.
func reader(name string, run func(context.Context, tool.Env, json.RawMessage) (tool.Result, error)) tool.Tool {
	return tool.Tool{Tool: provider.Tool{Name: name}, Run: run}
}

func writer(name string, run func(context.Context, tool.Env, json.RawMessage) (tool.Result, error)) tool.Tool {
	t := reader(name, run)
	t.Changes = true
	return t
}

func echo(text string) func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
	return func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		return tool.TextResult(text), nil
	}
}

func calls(names ...string) []providertest.Call {
	var list []providertest.Call
	for i, n := range names {
		list = append(list, providertest.Call{Name: n, ID: fmt.Sprintf("c%d", i)})
	}
	return list
}

func TestEventsOfATurnWithTools(t *testing.T) {
	t.Parallel()
	h := &host{tools: map[string]tool.Tool{"look": reader("look", echo("seen"))}}
	h.model.Script("m", providertest.Reply{Text: "I look.", ToolCalls: calls("look")}, providertest.Reply{Text: "Done."})
	out := h.do(t.Context(), new(loop.Queue))
	require.NoError(t, out.Err)
	assert.Equal(t, provider.StopEnd, out.StopReason)
	assert.Equal(t, "Done.", out.Message.PlainText())
	assert.Equal(t, 2*providertest.DefaultUsage.Input, out.Usage.Input)
	assert.Equal(t, "user assistant toolResult assistant", h.roles())
	assert.Equal(t, []string{
		"agent_start", "turn_start", "message_start", "message_end", "message_start", "message_end",
		"tool_execution_start", "tool_execution_end", "message_start", "message_end", "turn_end",
		"turn_start", "message_start", "message_end", "turn_end", "agent_end",
	}, h.types())
}

// When the end of a message is shown, the message is already recorded.
// Proves: P-007
func TestRecordedBeforeSeen(t *testing.T) {
	t.Parallel()
	h := &host{tools: map[string]tool.Tool{"look": reader("look", echo("seen"))}}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("look", "look")}, providertest.Reply{Text: "Done."})
	h.do(t.Context(), new(loop.Queue))
	recorded, ended := 0, 0
	for _, s := range h.story {
		switch {
		case strings.HasPrefix(s, "record"):
			recorded++
		case s == "message_end":
			ended++
		}
		assert.LessOrEqual(t, ended, recorded)
	}
	assert.Equal(t, 5, ended)
	for _, e := range eventsOf[event.MessageEnd](h) {
		assert.NotEmpty(t, e.EntryID)
	}
}

func TestEveryCallGetsOneResultInOrder(t *testing.T) {
	t.Parallel()
	slow := make(chan struct{})
	h := &host{
		tools: map[string]tool.Tool{
			"slow": reader("slow", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
				<-slow
				return tool.TextResult("slow"), nil
			}),
			"fast": reader("fast", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
				close(slow)
				return tool.TextResult("fast"), nil
			}),
			"panics": reader("panics", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) { panic("ouch") }),
			"fails": reader("fails", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
				return tool.Result{}, errors.New("no luck")
			}),
			"half": reader("half", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
				return tool.TextResult("some output"), errors.New("exit 1")
			}),
			"strict": {
				Tool:  provider.Tool{Name: "strict"},
				Check: func(json.RawMessage) (json.RawMessage, error) { return nil, errors.New("path is missing") },
				Run:   echo("never"),
			},
			"refused": writer("refused", echo("never")),
			"allowed": writer("allowed", echo("changed")),
		},
		permit: func(call provider.Block) error {
			if call.Name == "refused" {
				return errors.New("the person said no")
			}
			return nil
		},
	}
	list := calls("slow", "fast", "panics", "fails", "half", "strict", "refused", "allowed", "unknown", "torn")
	list[9].Args = json.RawMessage(`{"path":`)
	h.model.Script("m", providertest.Reply{ToolCalls: list}, providertest.Reply{Text: "Done."})
	out := h.do(t.Context(), new(loop.Queue))
	require.NoError(t, out.Err)

	want := []struct {
		text   string
		failed bool
	}{
		{"slow", false},
		{"fast", false},
		{"The tool panics failed unexpectedly: ouch", true},
		{"no luck", true},
		{"some output", true},
		{"path is missing", true},
		{"the person said no", true},
		{"changed", false},
		{"Tool unknown not found", true},
		{"Tool torn not found", true},
	}
	results := h.messages[2 : len(h.messages)-1]
	require.Len(t, results, len(want))
	for i, w := range want {
		assert.Equal(t, fmt.Sprintf("c%d", i), results[i].ToolCallID)
		assert.Equal(t, w.text, results[i].PlainText())
		assert.Equal(t, w.failed, *results[i].IsError, w.text)
	}
}

// A tool that changes something runs alone, after everything before it.
func TestChangesRunAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := 0, 0
		enter := func(alone bool) func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			return func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
				mu.Lock()
				running++
				most = max(most, running)
				if alone {
					assert.Equal(t, 1, running)
				}
				mu.Unlock()
				<-time.After(time.Second) // of the bubble's clock
				mu.Lock()
				running--
				mu.Unlock()
				return tool.TextResult("ok"), nil
			}
		}
		h := &host{tools: map[string]tool.Tool{"r": reader("r", enter(false)), "w": writer("w", enter(true))}}
		h.model.Script("m", providertest.Reply{ToolCalls: calls("r", "r", "w", "w", "r", "r", "r", "r", "r", "r")}, providertest.Reply{Text: "Done."})
		began := time.Now()
		h.do(t.Context(), new(loop.Queue))
		assert.Equal(t, 4, most, "readers run beside each other, four at a time")
		assert.Equal(t, 5*time.Second, time.Since(began), "two readers at once, two writers one by one, six readers in two rounds")
	})
}

func TestSteeringComesAfterTheToolsFollowUpsAtTheEnd(t *testing.T) {
	t.Parallel()
	q := new(loop.Queue)
	h := &host{}
	h.tools = map[string]tool.Tool{"look": reader("look", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		assert.True(t, q.Push(loop.FollowUp, say("later")))
		assert.True(t, q.Push(loop.Steering, say("turn left")))
		return tool.TextResult("seen"), nil
	})}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("look")}, providertest.Reply{Text: "Left."}, providertest.Reply{Text: "Later."})
	out := h.do(t.Context(), q)
	assert.Equal(t, "Later.", out.Message.PlainText())
	var texts []string
	for _, m := range h.messages {
		texts = append(texts, m.Role+":"+m.PlainText())
	}
	assert.Equal(t, []string{"user:hi", "assistant:", "toolResult:seen", "user:turn left", "assistant:Left.", "user:later", "assistant:Later."}, texts)
	assert.Equal(t, 1, count(h.types(), "agent_end"), "one run answers everything")
	assert.False(t, q.Running())
}

func count(list []string, s string) (n int) {
	for _, e := range list {
		if e == s {
			n++
		}
	}
	return n
}

// A message is either answered or refused, however close to the end it comes.
func TestNoMessageIsLostAtTheEnd(t *testing.T) {
	t.Parallel()
	for range 200 {
		q := new(loop.Queue)
		h := &host{}
		h.model.Script("m", providertest.Reply{Text: "ok"})
		q.Start()
		var pushed sync.WaitGroup
		accepted := make([]bool, 8)
		for i := range accepted {
			pushed.Go(func() { accepted[i] = q.Push(loop.When(i%2), say(fmt.Sprint("m", i))) })
		}
		r := loop.Run{Host: h, Queue: q, Now: time.Now}
		out := r.Do(t.Context(), []provider.Message{say("hi")})
		pushed.Wait()
		var answered []string
		for _, m := range h.messages {
			if m.Role == provider.RoleUser {
				answered = append(answered, m.PlainText())
			}
		}
		for i, ok := range accepted {
			assert.Equal(t, ok, slices.Contains(answered, fmt.Sprint("m", i)))
		}
		assert.Empty(t, out.Unanswered)
	}
}

func TestAbortWhileToolsRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	q := new(loop.Queue)
	h := &host{tools: map[string]tool.Tool{
		"wait": reader("wait", func(ctx context.Context, _ tool.Env, _ json.RawMessage) (tool.Result, error) {
			q.Push(loop.FollowUp, say("later"))
			cancel()
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}),
		"change": writer("change", echo("changed")),
	}}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("wait", "change")})
	out := h.do(ctx, q)
	assert.Equal(t, provider.StopAborted, out.StopReason)
	require.Len(t, out.Unanswered, 1, "queued prompts are returned")
	assert.Equal(t, "later", out.Unanswered[0].PlainText())
	assert.Equal(t, "user assistant toolResult toolResult", h.roles())
	for _, m := range h.messages[2:] {
		assert.True(t, *m.IsError)
		assert.Contains(t, m.PlainText(), "stopped the turn")
	}
	assert.False(t, q.Running())
	assert.IsType(t, event.AgentEnd{}, h.events[len(h.events)-1])
}

func TestAbortWhileAnswering(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := &host{}
		h.model.Script("m", providertest.Reply{Text: "a long answer that does not end", Hold: make(chan struct{})})
		var out loop.Outcome
		go func() { out = h.do(ctx, new(loop.Queue)) }()
		synctest.Wait() // the answer is held in its middle
		cancel()
		synctest.Wait()
		assert.Equal(t, provider.StopAborted, out.StopReason)
		require.NoError(t, out.Err)
		last := h.messages[len(h.messages)-1]
		assert.Equal(t, provider.StopAborted, last.StopReason, "the answer is kept as far as it came")
		assert.NotEmpty(t, last.PlainText())
	})
}

func TestRetriesAreShownAndWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		h.model.Script(
			"m", providertest.Reply{Fault: providertest.OverloadedBefore}, providertest.Reply{Text: "half an answer", Fault: providertest.Cut},
			providertest.Reply{Fault: providertest.RateLimited, RetryAfter: "7"}, providertest.Reply{Text: "Done."},
		)
		began := time.Now()
		out := h.do(t.Context(), new(loop.Queue))
		require.NoError(t, out.Err)
		assert.Equal(t, "Done.", out.Message.PlainText())
		assert.Equal(t, (2+4+7)*time.Second, time.Since(began), "doubled each time, unless the service sets the delay")
		starts := eventsOf[event.RetryStart](h)
		require.Len(t, starts, 3)
		assert.Equal(t, []int64{2000, 4000, 7000}, []int64{starts[0].DelayMs, starts[1].DelayMs, starts[2].DelayMs})
		assert.Equal(t, provider.Overloaded, starts[0].Reason)
		assert.Equal(t, 1, count(h.types(), "auto_retry_end"))
		assert.Equal(t, "user assistant assistant assistant assistant", h.roles(), "failed attempts are kept")
		assert.Equal(t, provider.StopError, h.messages[1].StopReason)
	})
}

func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replies []providertest.Reply
		class   provider.Class
		asked   int
	}{
		"after the last attempt":           {[]providertest.Reply{{Fault: providertest.ServerError}}, provider.Server, 4},
		"after two minutes of overload":    {[]providertest.Reply{{Fault: providertest.OverloadedBefore}}, provider.Overloaded, 7},
		"when the answer is empty again":   {[]providertest.Reply{{}}, provider.Empty, 2},
		"when the model only thinks":       {[]providertest.Reply{{Thinking: "hm"}}, provider.Empty, 2},
		"at once when it makes no sense":   {[]providertest.Reply{{Fault: providertest.BadKey}}, provider.Auth, 1},
		"at once without credit":           {[]providertest.Reply{{Fault: providertest.NoCredit}}, provider.Quota, 1},
		"when the service wants too much":  {[]providertest.Reply{{Fault: providertest.RateLimited, RetryAfter: "90"}}, provider.RateLimit, 1},
		"when the conversation stays long": {[]providertest.Reply{{Fault: providertest.TooLong}}, provider.ContextOverflow, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := &host{}
				h.model.Script("m", c.replies...)
				out := h.do(t.Context(), new(loop.Queue))
				assert.Equal(t, provider.StopError, out.StopReason)
				var cause *provider.Error
				require.ErrorAs(t, out.Err, &cause)
				assert.Equal(t, c.class, cause.Class)
				assert.Len(t, h.model.Requests(), c.asked)
				end, ok := h.events[len(h.events)-1].(event.AgentEnd)
				require.True(t, ok)
				assert.NotEmpty(t, end.ErrorMessage)
				if c.class == provider.RateLimit {
					assert.Contains(t, end.ErrorMessage, "1m30s")
				}
			})
		})
	}
}

func TestAnEmptyAnswerIsRequestedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		h.model.Script("m", providertest.Reply{Thinking: "hm"}, providertest.Reply{Text: "Done."})
		out := h.do(t.Context(), new(loop.Queue))
		require.NoError(t, out.Err)
		assert.Equal(t, "Done.", out.Message.PlainText())
		ends := eventsOf[event.RetryEnd](h)
		require.Len(t, ends, 1)
		assert.True(t, ends[0].Success)
	})
}

func TestRetryCanBeCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		h.model.Script("m", providertest.Reply{Fault: providertest.ServerError})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		out := h.do(ctx, new(loop.Queue))
		assert.Equal(t, provider.StopAborted, out.StopReason)
		assert.Equal(t, time.Second, time.Since(began))
		assert.Contains(t, h.types(), "auto_retry_end")
	})
}

func TestOverflowIsCompactedOnce(t *testing.T) {
	t.Parallel()
	var overflows int
	h := &host{compact: func(overflow bool) (bool, error) {
		if overflow {
			overflows++
		}
		return overflow, nil
	}}
	h.model.Script("m", providertest.Reply{Fault: providertest.TooLong}, providertest.Reply{Text: "Done."})
	out := h.do(t.Context(), new(loop.Queue))
	require.NoError(t, out.Err)
	assert.Equal(t, 1, overflows)

	overflows = 0
	h.model.Script("x", providertest.Reply{Fault: providertest.TooLong})
	h2 := &host{compact: h.compact}
	h2.model.Script("m", providertest.Reply{Fault: providertest.TooLong})
	out = h2.do(t.Context(), new(loop.Queue))
	require.Error(t, out.Err)
	assert.Equal(t, 1, overflows, "a conversation that stays too long does not go round for ever")
	assert.Len(t, h2.model.Requests(), 2)
}

func TestCompactsBetweenTurns(t *testing.T) {
	t.Parallel()
	asked := 0
	h := &host{
		tools:   map[string]tool.Tool{"look": reader("look", echo("seen"))},
		compact: func(overflow bool) (bool, error) { asked++; return false, nil },
	}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("look")}, providertest.Reply{Text: "Done."})
	h.do(t.Context(), new(loop.Queue))
	assert.Equal(t, 3, asked, "before the first request, after the tools and after the answer")
}

// The arguments in a truncated answer may be incomplete.
func TestCallsOfACutAnswerAreNotRun(t *testing.T) {
	t.Parallel()
	ran := false
	h := &host{tools: map[string]tool.Tool{"w": writer("w", func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		ran = true
		return tool.TextResult("x"), nil
	})}}
	h.model.Script("m", providertest.Reply{ToolCalls: calls("w"), Stop: provider.StopLength}, providertest.Reply{Text: "Done."})
	out := h.do(t.Context(), new(loop.Queue))
	require.NoError(t, out.Err)
	assert.False(t, ran)
	assert.Contains(t, h.messages[2].PlainText(), "it was not run")
	assert.True(t, *h.messages[2].IsError)
}

// A full disk does not end the turn: the conversation continues and all subscribers are notified.
func TestContinuesWhenNothingCanBeSaved(t *testing.T) {
	t.Parallel()
	h := &host{record: func(n int) error { return errors.New("the disk is full") }}
	h.model.Script("m", providertest.Reply{Text: "Done."})
	out := h.do(t.Context(), new(loop.Queue))
	require.NoError(t, out.Err)
	assert.Equal(t, 2, count(h.types(), "persistence_error"))
}

func TestUpdatesCarryTheWholeAnswer(t *testing.T) {
	t.Parallel()
	h := &host{tools: map[string]tool.Tool{"look": reader("look", echo("seen"))}}
	h.model.Script("m", providertest.Reply{
		Thinking: "hmm, let me see", Text: "I look at it.", ToolCalls: []providertest.Call{{Name: "look", Args: map[string]string{"path": "a"}}},
	}, providertest.Reply{Text: "ok"})
	h.do(t.Context(), new(loop.Queue))
	var thinking, text, args string
	for _, e := range h.events {
		if _, ended := e.(event.TurnEnd); ended {
			break
		}
		piece, ok := e.(event.MessageUpdate)
		if !ok {
			continue
		}
		switch piece.Update.Type {
		case event.ThinkingDelta:
			thinking += piece.Update.Delta
		case event.TextDelta:
			text += piece.Update.Delta
		case event.ToolCallDelta:
			args += piece.Update.Delta
		case event.ToolCallEnd:
			assert.JSONEq(t, args, string(piece.Update.Block.Arguments))
			path, _ := rawjson.GetString(piece.Update.Block.Arguments, "path")
			assert.Equal(t, "a", path)
		}
	}
	assert.Equal(t, "hmm, let me see", thinking)
	assert.Equal(t, "I look at it.", text)
}
