package lsp_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

func TestRequestsOutsideTheSession(t *testing.T) {
	t.Parallel()
	ed := lsptest.Start(t, newFixture(t).options)
	for _, method := range []string{"workspace/executeCommand", "shutdown", "textDocument/hover", "made/up"} {
		_, err := ed.Call(method, nil)
		require.Equal(t, -32002, err.Code, method)
		require.Equal(t, "notInitialized", err.Kind())
	}
	ed.Initialize(nil)
	_, err := ed.Call("initialize", lsptest.Fields{})
	require.Equal(t, -32600, err.Code)
	require.Equal(t, "The server is already initialized.", err.Message)

	ed.Shutdown()
	for _, method := range []string{"workspace/executeCommand", "shutdown", "initialize", "made/up"} {
		_, err := ed.Call(method, nil)
		require.Equal(t, -32600, err.Code, method)
		require.Equal(t, "The server is shutting down.", err.Message)
	}
	require.Equal(t, 0, ed.Exit().ExitCode())
}

func TestHowAServerEnds(t *testing.T) {
	t.Parallel()
	initialize := func(ed *lsptest.Editor) { ed.Initialize(nil) }
	shutdown := func(ed *lsptest.Editor) { ed.Initialize(nil); ed.Shutdown() }
	exit := func(ed *lsptest.Editor) { ed.Notify("exit", nil) }
	for name, tc := range map[string]struct {
		before, end func(*lsptest.Editor)
		want        lsp.Reason
		code        int
	}{
		"exit after shutdown is success":       {shutdown, exit, lsp.EndExit, 0},
		"exit without shutdown is failure":     {initialize, exit, lsp.EndExit, 1},
		"exit before initialize is failure":    {func(*lsptest.Editor) {}, exit, lsp.EndExit, 1},
		"input ends without shutdown":          {initialize, (*lsptest.Editor).CloseInput, lsp.EndInput, 1},
		"input ends at once":                   {func(*lsptest.Editor) {}, (*lsptest.Editor).CloseInput, lsp.EndInput, 1},
		"input ends after shutdown is success": {shutdown, (*lsptest.Editor).CloseInput, lsp.EndInput, 0},
		"the caller has had enough":            {initialize, (*lsptest.Editor).Interrupt, lsp.EndContext, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			ed := lsptest.Start(t, f.options)
			tc.before(ed)
			tc.end(ed)
			r := ed.Wait()
			require.Equal(t, tc.want, r.Reason)
			require.Equal(t, tc.code, r.ExitCode())
			require.NoError(t, r.Err)
		})
	}
}

// A client may send an entire conversation at once and exit: everything is answered.
func TestEverythingAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Drain = time.Minute
	ed := lsptest.StartOver(t, f.options, lsptest.OSPipes(t))
	ed.Raw(append(append(append(append(
		lsptest.Frame(`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}`),
		lsptest.Frame(`{"jsonrpc":"2.0","id":"b","method":"workspace/executeCommand","params":{"command":"test.echo","arguments":[{"text":"x"}]}}`)...),
		lsptest.Frame(`{"jsonrpc":"2.0","id":"c","method":"made/up"}`)...),
		lsptest.Frame(`{"jsonrpc":"2.0","id":"d","method":"shutdown"}`)...),
		lsptest.Frame(`{"jsonrpc":"2.0","method":"exit"}`)...))
	ed.CloseInput()
	require.Equal(t, lsp.Result{Reason: lsp.EndExit, Shutdown: true}, ed.Wait())
	answers := map[string]string{}
	for _, m := range ed.Messages() {
		answers[string(m.ID)] = string(m.Result)
	}
	require.Len(t, answers, 4)
	require.JSONEq(t, `{"text":"x"}`, answers[`"b"`])
	require.Equal(t, "null", answers[`"d"`])
}

func TestInputEndsDuringACommand(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	exec := ed.BeginExec("test.wait", nil)
	receive(t, f.running)
	ed.CloseInput()

	_, err := exec.Wait()
	require.Equal(t, "cancelled", err.Kind())
	require.ErrorContains(t, receive(t, f.ended), "stopping")
	require.Equal(t, lsp.EndInput, ed.Wait().Reason)
	receive(t, f.live.done)
}

func TestShutdownLetsCommandsFinish(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Drain = time.Minute
	ed := f.start(t)
	exec := ed.BeginExec("test.hold", lsptest.Fields{"text": "done"})
	receive(t, f.running)
	shutdown := ed.Begin("shutdown", nil)
	// The barrier: once another request is refused, shutdown has been handled.
	_, refused := ed.Call("test/barrier", nil)
	require.Equal(t, -32600, refused.Code)
	close(f.release)

	res, err := exec.Wait()
	require.Nil(t, err)
	require.JSONEq(t, `{"text":"done"}`, string(res))
	_, err = shutdown.Wait()
	require.Nil(t, err)
	require.Equal(t, 0, ed.Exit().ExitCode())
}

func TestShutdownCancelsUnfinishedCommands(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := f.start(t)
	exec := ed.BeginExec("test.wait", nil)
	receive(t, f.running)
	ed.Shutdown()

	_, err := exec.Wait()
	require.Equal(t, -32800, err.Code)
	require.Equal(t, "cancelled", err.Kind())
	require.ErrorContains(t, receive(t, f.ended), "stopping")
	select {
	case <-f.live.done:
	default:
		require.Fail(t, "shutdown was answered before the sessions were closed")
	}
	ed.Exit()
}

func TestStuckWorkDoesNotKeepTheServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Grace = time.Millisecond
	f.live.blockEnd = make(chan struct{})
	ed := f.start(t)
	t.Cleanup(func() { close(f.release); close(f.live.blockEnd) })
	ed.BeginExec("test.hold", nil)
	receive(t, f.running)
	require.Equal(t, 1, ed.Exit().ExitCode())
	require.NotZero(t, f.logs.FilterMessageSnippet("leaving them behind").Len())
}

func TestClientThatStopsReadingDoesNotKeepTheServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Grace = time.Millisecond
	ed := f.start(t)
	ed.Pause()
	for range 50 {
		ed.BeginExec("test.echo", lsptest.Fields{"text": "not read"})
	}
	ed.CloseInput()
	require.Equal(t, lsp.EndInput, ed.Wait().Reason)
}

func TestOutputThatBreaksEndsTheServer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := lsptest.MemoryPipes(t)
	ed := lsptest.StartOver(t, f.options, p)
	ed.Initialize(nil)
	require.NoError(t, p.EditorIn.Close())
	ed.BeginExec("test.echo", nil)
	r := ed.Wait()
	require.Equal(t, lsp.EndOutput, r.Reason)
	require.ErrorIs(t, r.Err, io.ErrClosedPipe)
}

func TestServerEndsWithTheClientsProcess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	asked := make(chan int)
	f.options.ParentPoll = time.Millisecond
	f.options.Alive = func(pid int) bool { asked <- pid; return <-asked != 0 }
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"processId": 4711})
	require.Equal(t, 4711, receive(t, asked))
	asked <- 1
	require.Equal(t, 4711, receive(t, asked))
	asked <- 0
	require.Equal(t, lsp.EndParent, ed.Wait().Reason)
	receive(t, f.live.done)
}

func TestInitializeMayFailAndBeRepeated(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	open := f.options.Open
	fail := true
	f.options.Open = func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
		if fail {
			fail = false
			return lsp.Backend{}, fault.New(fault.IO, "The directory /d cannot be read.").With("path", "/d")
		}
		return open(ctx, s, c)
	}
	ed := lsptest.Start(t, f.options)
	_, err := ed.Call("initialize", lsptest.Fields{"capabilities": lsptest.Fields{}})
	require.Equal(t, -32803, err.Code)
	require.JSONEq(t, `{"kind":"io","path":"/d"}`, string(err.Data))
	_, err = ed.Exec("test.echo", nil)
	require.Equal(t, -32002, err.Code)
	ed.Initialize(nil)
	_, err = ed.Exec("test.echo", nil)
	require.Nil(t, err)
}

func TestPanicWhileOpening(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.options.Open = func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error) { panic("no") }
	ed := lsptest.Start(t, f.options)
	_, err := ed.Call("initialize", lsptest.Fields{})
	require.Equal(t, "internal", err.Kind())
}

func TestStartedRunsWithTheEnv(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ended := make(chan struct{})
	f.options.Started = func(ctx context.Context, env *commands.Env) {
		env.UI.Notify(ctx, commands.LevelInfo, "started")
		i, _ := env.UI.Ask(ctx, commands.Question{Text: "Well?", Choices: []string{"no", "yes"}})
		if i == 1 {
			env.UI.Notify(ctx, commands.LevelInfo, "answered")
		}
		<-ctx.Done()
		close(ended)
		panic("after all")
	}
	ed := f.start(t)
	require.JSONEq(t, `{"type":3,"message":"started"}`, string(ed.WaitNotification("window/showMessage")))
	ed.AnswerQuestion("Well?", "yes")
	require.JSONEq(t, `{"type":3,"message":"answered"}`, string(ed.WaitNotification("window/showMessage")))
	ed.Shutdown()
	receive(t, ended)
	ed.Exit()
}

func TestCommandsWaitForTheStartUpWork(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	release := make(chan struct{})
	f.options.Started = func(context.Context, *commands.Env) {
		<-release
		f.live.emit(agent.SessionChanged{Cwd: "/w", Reason: agent.ReasonStart})
	}
	ed := f.start(t)
	impatient := ed.BeginExec("test.echo", nil)
	exec := ed.BeginExec("test.echo", nil)
	impatient.Cancel()
	_, err := impatient.Wait()
	require.Equal(t, "cancelled", err.Kind())
	close(release)
	_, err = exec.Wait()
	require.Nil(t, err)
	ms := ed.Messages()
	require.Equal(t, "xcsh/sessionChanged", ms[len(ms)-2].Method)
}

// syncCounter is a log that counts its flushes.
type syncCounter struct {
	zapcore.WriteSyncer
	synced chan struct{}
}

func (s syncCounter) Sync() error {
	s.synced <- struct{}{}
	return errors.New("terminals cannot sync")
}

func TestLogIsFlushedAtTheEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	out := syncCounter{zapcore.AddSync(io.Discard), make(chan struct{}, 8)}
	f.options.Log = zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), out, zapcore.DebugLevel))
	ed := lsptest.Start(t, f.options)
	ed.CloseInput()
	ed.Wait()
	receive(t, out.synced)
}
