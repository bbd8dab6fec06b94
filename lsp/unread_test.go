package lsp_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// Requests that stop something have a separate limit.
func TestStoppingHasALimitOfItsOwn(t *testing.T) {
	t.Parallel()
	f := hosting(t)
	f.options.MaxInFlight = 2
	ed := f.start(t)
	for range 2 {
		ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "prompt"})
		receive(t, f.running)
	}
	_, err := ed.Exec("xcsh.steer", nil)
	require.Equal(t, "busy", err.Kind())
	_, err = ed.Exec("xcsh.abort", nil)
	require.Nil(t, err)
	require.Equal(t, "abort", receive(t, f.running))
	close(f.release)
}

// While the client does not read, requests wait, except those that stop something. No request is lost, and
// waiting ones can be cancelled.
func TestRequestsWaitForAClientThatDoesNotRead(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	waiting := make(chan struct{})
	var once sync.Once
	f.options.Log = f.options.Log.WithOptions(zap.Hooks(func(e zapcore.Entry) error {
		if strings.HasPrefix(e.Message, "the client does not read") {
			once.Do(func() { close(waiting) })
		}
		return nil
	}))
	spec := func(name string) commands.Spec { return commands.Spec{Name: name, Title: name} }
	at := func(name string) func(context.Context, *commands.Env, none) (none, error) {
		return func(context.Context, *commands.Env, none) (none, error) {
			f.running <- name
			return none{}, nil
		}
	}
	f.options.Commands = commands.NewTable(
		commands.New(spec("xcsh.abort"), at("abort")), commands.New(spec("xcsh.steer"), at("steer")),
		commands.New(spec("test.large"), func(context.Context, *commands.Env, none) (textArgs, error) {
			return textArgs{strings.Repeat("x", 1<<20)}, nil
		}),
	)
	ed := f.start(t)
	ed.Pause()
	var answered []*lsptest.Pending
	for range 40 { // more than waits for the client
		answered = append(answered, ed.BeginExec("test.large", nil))
	}
	cancelled := ed.BeginExec("test.large", nil)
	cancelled.Cancel()
	<-waiting
	ed.Notify("xcsh/steer", nil)
	ed.Notify("xcsh/abort", nil)
	abort := ed.BeginExec("xcsh.abort", nil)
	require.Equal(t, "abort", receive(t, f.running))
	ed.Resume()
	for _, p := range answered {
		_, err := p.Wait()
		require.Nil(t, err)
	}
	_, err := cancelled.Wait()
	if err != nil { // it was taken before its cancellation was read otherwise
		require.Equal(t, "cancelled", err.Kind())
	}
	_, err = abort.Wait()
	require.Nil(t, err)
	for got := ""; got != "steer"; {
		got = receive(t, f.running)
	}
}

// After a large answer, memory is given back once the client has read it and the server is idle.
func TestMemoryIsGivenBackAfterALargeAnswer(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	f := newFixture(t)
	freed := make(chan struct{}, 16)
	f.options.FreeMemory = func() { freed <- struct{}{} }
	ed := f.start(t)
	ed.Pause()
	large := ed.BeginExec("test.echo", lsptest.Fields{"text": strings.Repeat("x", 16<<20)})
	f.clock.advance(time.Minute)
	require.Empty(t, freed, "the answer is not read yet")
	ed.Resume()
	_, err := large.Wait()
	require.Nil(t, err)
	_, err = ed.Exec("test.echo", lsptest.Fields{"text": "written after the large answer"})
	require.Nil(t, err)
	require.Eventually(t, func() bool {
		f.clock.advance(time.Minute) // also after the work of the last command, which ends after its answer
		return len(freed) > 0
	}, 20*time.Second, time.Millisecond)
}

// A large result is kept in a file until the client has read it, and the file goes then. The client gets the bytes as any other result.
func TestALargeResultWaitsInAFile(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	temp := afero.NewMemMapFs()
	opened := &atomic.Int32{}
	f.options.Temp = &sessiontest.FaultFs{Fs: temp, On: func(op, _ string) bool {
		if op == "open" {
			opened.Add(1)
		}
		return false
	}}
	text := strings.Repeat("0123456789\n", 1<<18)
	f.options.Commands = commands.NewTable(commands.New(commands.Spec{Name: "test.large", Title: "large"},
		func(ctx context.Context, _ *commands.Env, a textArgs) (textArgs, error) {
			w := commands.AnswerOf(ctx)
			_, err := io.WriteString(w, strconv.Quote(text))
			if a.Text == "fail" {
				err = fault.New(fault.NotFound, "There is nothing.")
			}
			return textArgs{}, err
		}))
	ed := f.start(t)
	ed.Pause()
	first, failed, second := ed.BeginExec("test.large", nil), ed.BeginExec("test.large", lsptest.Fields{"text": "fail"}), ed.BeginExec("test.large", nil)
	ed.Resume()
	for _, p := range []*lsptest.Pending{first, second} {
		res, err := p.Wait()
		require.Nil(t, err)
		require.Equal(t, strconv.Quote(text), string(res))
	}
	_, err := failed.Wait()
	require.Equal(t, "notFound", err.Kind())
	require.EqualValues(t, 3, opened.Load())
	left, readErr := afero.ReadDir(temp, os.TempDir())
	require.NoError(t, readErr)
	require.Empty(t, left)
}

// If the client never answers, a command waits no longer than the time limit.
func TestRequestsToTheClientHaveATimeLimit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		command string
		args    any
		request string
		limit   time.Duration
	}{
		"a document": {"test.open", lsptest.Fields{"text": "/w/a"}, "window/showDocument", time.Minute},
		"a progress": {"test.progress", nil, "window/workDoneProgress/create", 2 * time.Second},
		"a hook":     {"test.hook", lsptest.Fields{"text": string(hook.BeforeSwitch)}, "xcsh/beforeSwitch", 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ed := lsptest.Start(t, f.options)
			ed.Initialize(lsptest.Fields{
				"capabilities":          lsptest.Fields{"window": lsptest.Fields{"workDoneProgress": true, "showDocument": lsptest.Fields{"support": true}}},
				"initializationOptions": lsptest.Fields{"ui": lsptest.Fields{"hooks": true}},
			})
			exec := ed.BeginExec(tc.command, tc.args)
			ed.WaitRequest(tc.request)
			f.clock.advance(tc.limit)
			ed.WaitNotification("$/cancelRequest")
			if tc.command == "test.progress" {
				receive(t, f.running) // without a progress
				exec.Cancel()
			}
			res, err := exec.Wait()
			if tc.command != "test.progress" {
				require.Nil(t, err)
			}
			if tc.command == "test.hook" {
				assert.True(t, decode[hooked](t, res).Cancel, "silence is no yes")
			}
		})
	}
}

// A question to the user has no time limit.
func TestQuestionsHaveNoTimeLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	exec := ed.BeginExec("test.ask", lsptest.Fields{"text": "?", "choices": []string{"a"}})
	r := ed.WaitRequest("window/showMessageRequest")
	f.clock.advance(100 * time.Hour)
	r.Reply(lsptest.Fields{"title": "a"})
	res, err := exec.Wait()
	require.Nil(t, err)
	require.JSONEq(t, `{"index":0}`, string(res))
}

// exit ends the server although initialize never returns.
func TestExitDoesNotWaitForInitialize(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Grace = 1
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	open := f.options.Open
	f.options.Open = func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
		<-hang
		return open(ctx, s, c)
	}
	ed := lsptest.Start(t, f.options)
	ed.Begin("initialize", json.RawMessage(`{"capabilities":{}}`))
	ed.Notify("exit", nil)
	require.Equal(t, lsp.EndExit, ed.Wait().Reason)
}

// A request with the method exit is refused and does not end the server, not even after Grace.
func TestExitAsARequestEndsNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Grace = time.Millisecond
	ed := lsptest.Start(t, f.options)
	ed.Initialize(nil)
	_, err := ed.Call("exit", nil)
	require.NotNil(t, err)
	passed := time.NewTimer(20 * f.options.Grace)
	<-passed.C
	_, err = ed.Exec("test.echo", lsptest.Fields{"text": "still here"})
	require.Nil(t, err)
}
