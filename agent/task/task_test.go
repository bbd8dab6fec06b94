package task

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

func TestTheArgumentsOfEachProgram(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ args, want string }{
		"omp": {
			`{"context":"c","i":"x","tasks":[{"name":"A","agent":"scout","task":"look","solutionSpace":"x"}]}`,
			`{"context":"c","tasks":[{"name":"A","agent":"scout","task":"look"}]}`,
		},
		"xcsh": {
			`{"agent":"explore","_i":"x","isolated":true,"schema":"{}","tasks":[{"id":"A","description":"d","assignment":"look"}]}`,
			`{"tasks":[{"name":"A","agent":"explore","description":"d","task":"look"}],"ignored":["isolated","schema"]}`,
		},
		"one task": {`{"task":"look"}`, `{"tasks":[{"agent":"task","task":"look"}]}`},
		"a list as text": {
			`{"tasks":"[{\"task\":\"look\",\"outputSchema\":{\"type\":\"object\"}}]"}`,
			`{"tasks":[{"agent":"task","task":"look"}],"ignored":["outputSchema"]}`,
		},
	} {
		c, err := Parse(json.RawMessage(test.args))
		require.NoError(t, err, name)
		require.Equal(t, test.want, string(encode(c)), name)
		again, err := Parse(encode(c))
		require.NoError(t, err, name)
		require.Equal(t, c, again, name)
	}
}

func TestWrongArgumentsAreRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{}`:            `needs the parameter "tasks"`,
		`{"tasks":[]}`:  `is empty`,
		`{"tasks":[1]}`: `must be one JSON object`,
		`{"tasks":[{"task":"a"},{"task":"a"},{"task":"a"},{"task":"a"},{"task":"a"},{"task":"a"},{"task":"a"},{"task":"a"},{"task":"a"}]}`: `at most 8 tasks`,
		`{"tasks":[{"name":"a"}]}`:              `needs the parameter "task"`,
		`{"tasks":[{"task":"a"}],"foo":1}`:      `no parameter "foo"`,
		`{"tasks":[{"task":"a","foo":1}]}`:      `no parameter "foo"`,
		`{"tasks":[{"task":7}]}`:                `must be a string`,
		`{"tasks":[{"task":"a","agent":"no"}]}`: `There is no agent "no". Existing agents: task, scout, explore.`,
	} {
		_, err := New(session.Omp, Agents(&setup.Resolved{}), nil).Check(json.RawMessage(args))
		require.ErrorContains(t, err, want, args)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Scouty": "Scouty", "look-around here": "LookAroundHere", "../../etc/passwd": "EtcPasswd", "": "Scout", "…": "Scout", "con": "ConTask",
		"3.bash": "Task3Bash", "a\x00b": "AB", "NAME.jsonl": "NAMEJsonl", "averylongnamethatgoesonandonandonandon": "Averylongnamethatgoesonandonando",
	} {
		require.Equal(t, want, clean(name, "scout"), name)
	}
	var n names
	require.Equal(t, []string{"A", "a-2", "A-3"}, []string{n.next("A"), n.next("a"), n.next("A")})
}

// group is a group whose tasks do work.
func group(work func(ctx context.Context, j *Job) Outcome) *Group {
	return &Group{
		Slots: NewSlots(), Agents: Agents(&setup.Resolved{}), Artifacts: artifact.Dir{Fs: afero.NewMemMapFs()}, Now: time.Now,
		Open: func(j *Job) (func(context.Context) Outcome, error) {
			return func(ctx context.Context) Outcome { return work(ctx, j) }, nil
		},
	}
}

func tasks(n int) (c Call) {
	for range n {
		c.Tasks = append(c.Tasks, Task{Agent: "scout", Assignment: "look"})
	}
	return c
}

func TestFourTasksRunAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		g := group(func(context.Context, *Job) Outcome {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-time.After(time.Minute)
			now.Add(-1)
			return Outcome{Text: "ok"}
		})
		r, err := g.Do(t.Context(), tool.Env{}, tasks(8))
		require.NoError(t, err)
		require.False(t, r.IsError)
		require.EqualValues(t, 4, most.Load())
	})
}

func TestProgressIsShownAtMostFiveTimesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var shown atomic.Int32
		g := group(func(_ context.Context, j *Job) Outcome {
			for range 2000 {
				j.Saw(event.ToolStart{ToolName: "read"})
				<-time.After(time.Millisecond)
			}
			return Outcome{Text: "ok"}
		})
		var last string
		_, err := g.Do(t.Context(), tool.Env{Update: func(r tool.Result) { shown.Add(1); last = string(r.Details) }}, tasks(2))
		require.NoError(t, err)
		require.LessOrEqual(t, shown.Load(), int32(11))
		require.GreaterOrEqual(t, shown.Load(), int32(9))
		require.Contains(t, last, `"lastTool":"read"`)
	})
}

func TestTheLimitsOfATask(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, test := range map[string]struct {
			work func(ctx context.Context, j *Job) Outcome
			want string
		}{
			"time": {func(ctx context.Context, _ *Job) Outcome {
				<-ctx.Done()
				return Outcome{Text: "half", Err: ctx.Err()}
			}, "stopped after 20 minutes"},
			"requests": {func(_ context.Context, j *Job) Outcome {
				for n := 1; ; n++ {
					last, err := j.Request()
					if err != nil {
						return Outcome{Err: err, Requests: j.Requests()}
					}
					require.Equal(t, n == 50, last)
				}
			}, "stopped after 50 requests"},
			"retries": {func(ctx context.Context, j *Job) Outcome {
				for ctx.Err() == nil {
					j.Saw(event.RetryStart{})
				}
				return Outcome{Err: ctx.Err()}
			}, "too many requests failed"},
			"a panic": {func(context.Context, *Job) Outcome { panic("no") }, "failed unexpectedly: no"},
		} {
			r, err := group(test.work).Do(t.Context(), tool.Env{}, tasks(1))
			require.NoError(t, err, name)
			require.True(t, r.IsError, name)
			require.Contains(t, r.Content[0].Text, `status="failed"`, name)
			require.Contains(t, r.Content[0].Text, test.want, name)
		}
	})
}

// A call that is aborted does not wait for a task that does not stop.
func TestAnAbortedCallEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		g := group(func(context.Context, *Job) Outcome { <-stuck; return Outcome{} })
		go func() { <-time.After(time.Second); cancel() }()
		begun := time.Now()
		r, err := g.Do(ctx, tool.Env{}, tasks(2))
		require.NoError(t, err)
		require.Contains(t, r.Content[0].Text, `status="aborted"`)
		require.Equal(t, time.Second+stopTime, time.Since(begun))
		close(stuck)
		synctest.Wait()
	})
}
