package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// fixture is a server with test commands, and the state behind it that tests inspect.
type fixture struct {
	live     *liveFake
	clock    *clockFake
	logs     *observer.ObservedLogs
	options  lsp.Options
	settings chan lsp.Settings
	docs     chan *lsp.Documents
	hook     hook.Hook
	running  chan string // names of commands that wait for their context
	release  chan struct{}
	ended    chan error // why they stopped waiting
}

type textArgs struct {
	Text string `json:"text"`
}

type askArgs struct {
	Text    string   `json:"text"`
	Choices []string `json:"choices"`
}

type answer struct {
	Index int `json:"index"`
}

type shown struct {
	Shown bool `json:"shown"`
}

type folderList struct {
	Folders []string `json:"folders"`
}

type hooked struct {
	Cancel bool `json:"cancel"`
	Failed bool `json:"failed"`
}

type rawResult struct {
	Raw json.RawMessage `json:"raw"`
}

type failArgs struct {
	Kind string `json:"kind"`
}

type none struct{}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	f := &fixture{
		live:     newLiveFake(),
		clock:    newClockFake(),
		logs:     logs,
		settings: make(chan lsp.Settings, 4),
		docs:     make(chan *lsp.Documents, 4),
		running:  make(chan string, 1024),
		release:  make(chan struct{}),
		ended:    make(chan error, 1024),
	}
	f.options = lsp.Options{
		Version:  "1.2.3",
		Commands: f.table(),
		Manifest: []string{"the manifest"},
		Log:      zap.New(core),
		Clock:    f.clock,
		Drain:    time.Millisecond,

		FreeMemory: func() {},
		Open: func(_ context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
			f.docs <- c.Documents
			f.hook = c.Hook
			f.settings <- s
			return lsp.Backend{Fs: afero.NewMemMapFs(), Live: f.live}, nil
		},
	}
	return f
}

// start runs the server and initializes it.
func (f *fixture) start(t testing.TB) *lsptest.Editor {
	t.Helper()
	ed := lsptest.Start(t, f.options)
	ed.Initialize(nil)
	return ed
}

func (f *fixture) table() *commands.Table {
	spec := func(name string) commands.Spec { return commands.Spec{Name: name, Title: name} }
	return commands.NewTable(
		commands.New(spec("test.echo"), func(_ context.Context, _ *commands.Env, a textArgs) (textArgs, error) { return a, nil }),
		commands.New(spec("test.ask"), runAsk),
		commands.New(spec("test.input"), runInput),
		commands.New(spec("test.wait"), f.runWait),
		commands.New(spec("test.hold"), f.runHold),
		commands.New(spec("test.panic"), runPanic),
		commands.New(spec("test.fail"), runFail),
		commands.New(spec("test.progress"), f.runProgress),
		commands.New(spec("test.leak"), runLeak),
		commands.New(spec("test.open"), runOpen),
		commands.New(spec("test.openPage"), runOpenPage),
		commands.New(spec("test.tell"), runTell),
		commands.New(spec("test.change"), f.runChange),
		commands.New(spec("test.raw"), runRaw),
		commands.New(spec("test.hook"), f.runHook),
		commands.New(spec("test.nan"), func(context.Context, *commands.Env, none) (chan int, error) { return nil, nil }),
		commands.New(spec("test.folders"), func(_ context.Context, env *commands.Env, _ none) (folderList, error) {
			return folderList{env.Folders()}, nil
		}),
	)
}

func runAsk(ctx context.Context, env *commands.Env, a askArgs) (answer, error) {
	i, err := env.UI.Ask(ctx, commands.Question{Text: a.Text, Choices: a.Choices})
	return answer{i}, err
}

// runWait waits until it is cancelled.
func (f *fixture) runWait(ctx context.Context, _ *commands.Env, a textArgs) (none, error) {
	f.running <- a.Text
	<-ctx.Done()
	f.ended <- context.Cause(ctx)
	return none{}, ctx.Err()
}

// runHold ignores its context and waits until the test releases it.
func (f *fixture) runHold(_ context.Context, _ *commands.Env, a textArgs) (textArgs, error) {
	f.running <- a.Text
	<-f.release
	return a, nil
}

func runPanic(context.Context, *commands.Env, none) (none, error) { panic("the secret of the panic") }

func runFail(_ context.Context, _ *commands.Env, a failArgs) (none, error) {
	switch a.Kind {
	case "plain":
		return none{}, errors.New("something plain went wrong")
	case "unencodable":
		return none{}, fault.New(fault.IO, "Odd.").With("channel", make(chan int))
	}
	return none{}, fault.New(fault.Kind(a.Kind), "It failed: %s.", a.Kind).With("path", "/p").With("kind", "forged")
}

// runProgress reports three times and ends when it is cancelled.
func (f *fixture) runProgress(ctx context.Context, env *commands.Env, a textArgs) (none, error) {
	p := env.UI.Progress(ctx, a.Text)
	p.Report("one", 10)
	p.Report("two", 20)
	p.Report("three", -1)
	if a.Text == "Clearing" {
		p.Report("", -1)
	}
	f.running <- a.Text
	<-ctx.Done()
	p.End("over")
	p.Report("after the end", 0)
	return none{}, ctx.Err()
}

// runLeak begins a progress and panics.
func runLeak(ctx context.Context, env *commands.Env, a textArgs) (none, error) {
	env.UI.Progress(ctx, a.Text)
	panic("never ends it")
}

func runOpen(ctx context.Context, env *commands.Env, a textArgs) (shown, error) {
	return shown{env.UI.Open(ctx, a.Text, true)}, nil
}

func runOpenPage(ctx context.Context, env *commands.Env, a textArgs) (shown, error) {
	return shown{env.UI.OpenPage(ctx, a.Text)}, nil
}

func runTell(ctx context.Context, env *commands.Env, a textArgs) (none, error) {
	env.UI.Notify(ctx, commands.LevelError, a.Text)
	return none{}, nil
}

// runChange emits events before it returns, like the sessions.
func (f *fixture) runChange(_ context.Context, _ *commands.Env, a textArgs) (none, error) {
	f.live.emit(agent.SessionsChanged{Cwd: a.Text})
	f.live.emit(agent.SessionChanged{Cwd: a.Text, SessionID: "id", Seq: 1, Reason: agent.ReasonNew})
	f.live.emit(agent.SessionsChanged{Cwd: a.Text})
	return none{}, nil
}

// runHook asks the client's hook.
func (f *fixture) runHook(ctx context.Context, _ *commands.Env, a textArgs) (hooked, error) {
	d, err := f.hook.Before(ctx, hook.Event{
		Name: hook.Name(a.Text), Cwd: "/w", Reason: "resume", TargetSessionFile: "/t.jsonl", EntryID: "e1", UserWantsSummary: true, CustomInstructions: "short",
		Plan: &hook.RewindPlan{Files: 3, Conflicts: 1, Conversation: true},
	})
	f.hook.After(ctx, hook.Event{Name: hook.Switch})
	return hooked{d.Cancel, err != nil}, nil
}

func runRaw(_ context.Context, _ *commands.Env, a textArgs) (rawResult, error) {
	return rawResult{json.RawMessage(rawValues[a.Text])}, nil
}

// rawValues are contents of sessions that a strict encoder would reject.
var rawValues = map[string]string{
	"lone surrogate": `"\ud800 and \uDFFF"`,
	"duplicate keys": `{"a":1,"a":2}`,
	"huge number":    `123456789012345678901234567890.5e400`,
	"invalid UTF-8":  "\"\xff\xfe and \xc3\"",
	"markup":         `"<b> & </b>"`,
	"null":           `null`,
	"broken":         `{`,
}

// receive returns the next value of a channel, or fails the test.
func receive[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-ch:
		if !ok {
			return v
		}
		return v
	case <-time.After(20 * time.Second):
		require.FailNow(t, "no value was sent")
		panic("unreachable")
	}
}

// decode decodes JSON, or fails the test.
func decode[T any](t testing.TB, raw json.RawMessage) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(raw, &v), string(raw))
	return v
}

// rawJSON returns JSON text as a value.
func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

type openFunc = func(context.Context, lsp.Settings, lsp.Client) (lsp.Backend, error)

// wrapOpen changes the backend that open makes.
func wrapOpen(open openFunc, change func(*lsp.Backend)) openFunc {
	return func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
		b, err := open(ctx, s, c)
		change(&b)
		return b, err
	}
}

// unixPaths skips a test with Unix paths on Windows.
func unixPaths(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the paths in this test are those of Unix")
	}
}
