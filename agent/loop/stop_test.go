package loop_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// lastResult is the text of the newest tool result.
func (h *host) lastResult() string {
	for _, m := range slices.Backward(h.messages) {
		if m.Role == provider.RoleToolResult {
			return m.PlainText()
		}
	}
	return ""
}

// Every call has a time limit. The model gets an error result, and the turn continues.
func TestACallEndsAtItsTimeLimit(t *testing.T) {
	t.Parallel()
	waits := func(ctx context.Context, _ tool.Env, _ json.RawMessage) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	ownLimit := reader("x", waits)
	ownLimit.Limit = func(json.RawMessage) time.Duration { return 90 * time.Second }
	partly := reader("x", func(ctx context.Context, _ tool.Env, _ json.RawMessage) (tool.Result, error) {
		<-ctx.Done()
		r := tool.TextResult("some output")
		r.IsError = true
		return r, nil
	})
	for name, tc := range map[string]struct {
		tool tool.Tool
		want string
		took time.Duration
	}{
		"by default":    {reader("x", waits), "This x call was stopped because it exceeded its time limit of 2 minutes.", 2 * time.Minute},
		"its own":       {ownLimit, "This x call was stopped because it exceeded its time limit of 90 seconds.", 90 * time.Second},
		"with a result": {partly, "some output\nThis x call was stopped because it exceeded its time limit of 2 minutes.", 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := &host{tools: map[string]tool.Tool{"x": tc.tool}}
				h.model.Script("m", providertest.Reply{ToolCalls: calls("x")}, providertest.Reply{Text: "Done."})
				start := time.Now()
				out := h.do(t.Context(), new(loop.Queue))
				assert.Equal(t, tc.took, time.Since(start))
				assert.Equal(t, provider.StopEnd, out.StopReason, "the model gets another request")
				assert.Equal(t, tc.want, h.lastResult())
				assert.True(t, *h.messages[2].IsError)
			})
		})
	}
}

// A call that ignores its context is left behind: neither its time limit nor an abort waits for it,
// and its later output is not shown.
func TestCallThatDoesNotStopIsAbandoned(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		abort bool
		took  time.Duration
		want  string
		stop  string
	}{
		"at its time limit": {false, 2*time.Minute + 3*time.Second, "This x call exceeded its time limit of 2 minutes and did not stop; it may still be running.", provider.StopEnd},
		"at an abort":       {true, 10*time.Second + 3*time.Second, "The user stopped the turn, but this x call did not stop; it may still be running.", provider.StopAborted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release, returned := make(chan struct{}), make(chan struct{})
				h := &abandoning{host: &host{}}
				h.tools = map[string]tool.Tool{"x": reader("x", func(_ context.Context, env tool.Env, _ json.RawMessage) (tool.Result, error) {
					defer close(returned)
					<-release
					env.Update(tool.TextResult("late"))
					panic("late")
				})}
				h.model.Script("m", providertest.Reply{ToolCalls: calls("x")}, providertest.Reply{Text: "Done."})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if tc.abort {
					defer time.AfterFunc(10*time.Second, cancel).Stop()
				}
				q, start := new(loop.Queue), time.Now()
				q.Start()
				out := (&loop.Run{Host: h, Queue: q, Now: time.Now}).Do(ctx, []provider.Message{say("hi")})
				assert.Equal(t, tc.took, time.Since(start))
				assert.Equal(t, tc.stop, out.StopReason)
				assert.Equal(t, tc.want, h.lastResult())
				assert.Equal(t, []string{"x"}, h.left)
				events := len(h.events)
				close(release)
				<-returned
				synctest.Wait()
				assert.Len(t, h.events, events)
			})
		})
	}
}

// abandoning records the calls that were left behind.
type abandoning struct {
	*host
	left []string
}

func (a *abandoning) Tools(ctx context.Context) (map[string]tool.Tool, tool.Env) {
	tools, env := a.host.Tools(ctx)
	env.Abandoned = func(name string) { a.left = append(a.left, name) }
	return tools, env
}

func TestTimeLimitsOfTheTools(t *testing.T) {
	t.Parallel()
	for _, tl := range tool.All(tool.Options{}) {
		if tl.Name == "read" {
			require.NotZero(t, tl.Limit(json.RawMessage(`{"path":"a.txt"}`)), "of a file")
			require.Zero(t, tl.Limit(json.RawMessage(`{"path":"https://example.com"}`)), "a web page has its own, and a question none")
			continue
		}
		if tl.Name != "bash" {
			require.Nil(t, tl.Limit, tl.Name)
			continue
		}
		require.Zero(t, tl.Limit(json.RawMessage(`{"command":"x"}`)), "each command has a timeout of its own, and a question none")
	}
}
