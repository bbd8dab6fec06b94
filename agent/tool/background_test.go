//go:build unix

package tool_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
)

// aMoment is the time until a command counts as started in tests.
const aMoment = 50 * time.Millisecond

var leashed = tool.Options{Leash: []string{os.Args[0], leashArg}}

// backgroundWorld has tools whose commands can run in the background.
func backgroundWorld(t *testing.T) *world {
	t.Helper()
	w := diskWorld(t, tool.Options{}, nil)
	w.tools["bash"] = tool.NewBash(leashed, aMoment)
	b := tool.NewBackground(func() {}, func(string) {})
	w.env.Background = b
	t.Cleanup(func() { require.NoError(t, b.StopAll(context.Background())) })
	return w
}

// begin starts a command in the background and returns its id.
func (w *world) begin(line string) string {
	w.t.Helper()
	out := w.ok("bash", object(w.t, "command", line, "background", true))
	m := regexp.MustCompile(`^Running in the background with the id (bg-\w+)\. `).FindStringSubmatch(out)
	require.NotNil(w.t, m, out)
	return m[1]
}

// pipe makes a named pipe, for a command that waits once: a second wait could meet the writer of the first.
func (w *world) pipe(name string) (write func()) {
	w.t.Helper()
	require.NoError(w.t, syscall.Mkfifo(w.path(name), 0o600))
	return func() { require.NoError(w.t, os.WriteFile(w.path(name), []byte("\n"), 0o600)) }
}

func TestBackgroundCommand(t *testing.T) {
	t.Parallel()
	w := backgroundWorld(t)
	request, end := w.pipe("request"), w.pipe("end")
	line := "echo listening; read x <request; echo request; read x <end; echo bye; exit 3"
	id := w.begin(line)
	require.Equal(t, id+": "+line, w.ok("process", `{}`))
	request()
	var out string
	for !strings.Contains(out, "request") { // also what the call has not shown already
		out += w.ok("process", object(t, "id", id, "wait", 0.05))
	}
	require.Contains(t, out, "["+id+" is running: "+line+"]")
	end()
	require.Equal(t, "bye\n\n["+id+" exited with code 3: "+line+"]", w.ok("process", object(t, "id", id, "wait", 30)))
	require.Equal(t, "No commands are running in the background.", w.ok("process", `{}`))
	require.Empty(t, w.env.Background.Notes(), "the model has read it")
}

func TestACommandThatFailsAtOnceIsAnOrdinaryResult(t *testing.T) {
	t.Parallel()
	w := backgroundWorld(t)
	w.tools["bash"] = tool.NewBash(leashed, time.Minute)
	r, err := w.call("bash", `{"command":"echo no such script; exit 2","background":true}`)
	require.NoError(t, err)
	require.True(t, r.IsError)
	require.Regexp(t, `^no such script\n\n\[bg-\w+ exited with code 2: `, text(r))
	require.Empty(t, w.env.Background.Notes())
}

func TestTheModelIsNotifiedOnceOfAnEnd(t *testing.T) {
	t.Parallel()
	w := backgroundWorld(t)
	goOn := w.pipe("pipe")
	id := w.begin("read x <pipe; echo crashed; exit 1")
	goOn()
	var notes []string
	require.Eventually(t, func() bool {
		notes = w.env.Background.Notes()
		return len(notes) > 0
	}, 30*time.Second, time.Millisecond)
	require.Equal(t, []string{"A background command has ended.\ncrashed\n\n[" + id + " exited with code 1: read x <pipe; echo crashed; exit 1]"}, notes)
	require.Empty(t, w.env.Background.Notes())
}

func TestStoppingABackgroundCommand(t *testing.T) {
	t.Parallel()
	w := backgroundWorld(t)
	id := w.begin("trap 'echo cleaned up; exit' TERM; while :; do sleep 0.01; done")
	require.Contains(t, w.ok("process", object(t, "id", id, "stop", true)), "cleaned up\n\n["+id+" was stopped: trap ")
	require.Contains(t, w.refused("process", `{"id":"bg-old"}`), `No command with the id "bg-old" is running in the background. It ended some time ago, or with the session or the server`)
}

func TestBackgroundArguments(t *testing.T) {
	t.Parallel()
	w := backgroundWorld(t)
	require.Contains(t, w.refused("bash", `{"command":"x","background":true,"timeout":3}`), "a background command has no timeout")
	require.Contains(t, w.refused("process", `{"stop":true}`), "needs the id")
	require.Contains(t, w.refused("process", `{"id":"x","wait":1000}`), "from 0 to 90")
	for _, other := range []string{"async", "run_in_background"} {
		own, err := w.tools["bash"].Check([]byte(`{"command":"x","` + other + `":true}`))
		require.NoError(t, err)
		require.JSONEq(t, `{"command":"x","background":true}`, string(own))
	}
	w.env.Permission.Level = sandbox.Strict
	require.Contains(t, w.refused("bash", `{"command":"x","background":true}`), "needs approval")
	w.env.Background = nil
	require.Contains(t, w.refused("bash", `{"command":"x","background":true}`), "cannot run in the background here")
	require.Contains(t, w.refused("process", `{}`), "cannot run in the background here")
}

// The user stops the turn while a command is being started.
func TestAStoppedCallLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := backgroundWorld(t)
	bash := tool.NewBash(leashed, time.Hour)
	ctx, stop := context.WithCancel(t.Context())
	w.env.Background = tool.NewBackground(stop, func(string) {})
	_, err := bash.Run(ctx, w.env, []byte(`{"command":"sleep 1000","background":true}`))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, w.env.Background.Running())
}

func TestBackgroundCommandsLeaveNoGoroutines(t *testing.T) { //nolint:paralleltest // it looks at all goroutines
	end := leaktest.Begin(t)
	w := backgroundWorld(t)
	w.guarded(aMoment, func(context.Context, []string) error { return nil })
	for range 5 {
		w.begin("yes")
	}
	require.NoError(t, w.env.Background.StopAll(t.Context()))
	end()
}

// guarded gives commands the permission for the sandbox, whose launcher restricts nothing here.
func (w *world) guarded(settle time.Duration, keep tool.Keeping) {
	w.env.Background.WithCompareEvery(time.Millisecond)
	w.env.Permission.Keep = keep
	w.env.Permission.Level = sandbox.Standard
	box := &sandbox.Box{
		Launcher: []string{"sh", "-c", `shift 2; exec "$@"`, "sh"}, OS: "linux", Temp: w.t.TempDir(), Getenv: func(string) string { return "" },
	}
	w.tools["bash"] = tool.NewBash(tool.Options{Sandbox: box, Leash: leashed.Leash}, settle)
}

// Changes that the user does not want are undone while the command runs, and the model is notified.
func TestChangesByABackgroundCommandAreAskedAbout(t *testing.T) {
	t.Parallel()
	w := backgroundWorld(t)
	w.write(".vscode/settings.json", "{}\n")
	asked := make(chan []string, 10)
	answer := make(chan error)
	w.guarded(aMoment, func(ctx context.Context, paths []string) error {
		asked <- paths
		select {
		case err := <-answer:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	first, second, third := w.pipe("first"), w.pipe("second"), w.pipe("third")
	// A file appears whole: the comparison could also see it while it is written.
	w.begin("put() { echo hostile >new; mv new $1; }; read x <first; put .vscode/tasks.json; read x <second; put .envrc; mkdir -p .husky; read x <third; put .husky/pre-commit; exec sleep 1000")
	first()
	require.Equal(t, []string{w.path(".vscode/tasks.json")}, <-asked)
	assert.FileExists(t, w.path(".vscode/tasks.json"), "it could be the user's own change")
	answer <- errors.New("no")
	require.Eventually(t, func() bool {
		_, err := os.Stat(w.path(".vscode/tasks.json"))
		return errors.Is(err, os.ErrNotExist)
	}, 30*time.Second, time.Millisecond)
	var notes []string
	require.Eventually(t, func() bool { notes = append(notes, w.env.Background.Notes()...); return len(notes) > 0 }, 30*time.Second, time.Millisecond)
	require.Contains(t, notes[0], "tasks.json (created). The user did not approve these changes, so they were undone.")

	second()
	require.Equal(t, []string{w.path(".envrc")}, <-asked)
	answer <- nil
	third()
	require.Equal(t, []string{w.path(".husky/pre-commit")}, <-asked, "the approved file is not asked about again")
	require.NoError(t, w.env.Background.StopAll(t.Context()))
	assert.FileExists(t, w.path(".envrc"))
	assert.NoFileExists(t, w.path(".husky/pre-commit"), "it can no longer be approved")
	assert.Equal(t, "{}\n", w.read(".vscode/settings.json"))
}

// A change at the very end of a command is not missed.
func TestTheLastChangeOfABackgroundCommandIsUndone(t *testing.T) {
	t.Parallel()
	w := backgroundWorld(t)
	w.guarded(time.Minute, func(context.Context, []string) error { return errors.New("no") })
	for range 5 {
		r, err := w.call("bash", `{"command":"echo hostile >.envrc","background":true}`)
		require.NoError(t, err)
		require.NotContains(t, text(r), "Running in the background")
		require.Eventually(t, func() bool {
			_, err := os.Stat(w.path(".envrc"))
			return errors.Is(err, os.ErrNotExist)
		}, 30*time.Second, time.Millisecond)
	}
}

// What the user approves otherwise is no change by the background command.
func TestApprovedChangesAreNotAskedAboutAgain(t *testing.T) {
	t.Parallel()
	w := backgroundWorld(t)
	w.write(".envrc", "old\n")
	var background, foreground atomic.Int32
	w.guarded(aMoment, func(context.Context, []string) error { background.Add(1); return nil })
	w.begin("exec sleep 1000")
	w.ok("write", `{"path":".vscode/settings.json","content":"{}"}`)
	w.ok("edit", `{"path":".envrc","edits":[{"oldText":"old","newText":"new"}]}`)
	w.env.Permission.Keep = func(context.Context, []string) error { foreground.Add(1); return nil }
	w.ok("bash", `{"command":"echo x >.npmrc"}`)
	require.NoError(t, w.env.Background.StopAll(t.Context()))
	require.Zero(t, background.Load())
	require.Equal(t, int32(1), foreground.Load())
	require.Equal(t, "new\n", w.read(".envrc"))
	require.FileExists(t, filepath.Join(w.env.Cwd, ".npmrc"))
}
