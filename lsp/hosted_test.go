package lsp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// hosting returns a fixture with commands that clients may send as notifications: one that waits until it
// is released, one that fails unexpectedly, and one that returns at once.
func hosting(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	spec := func(name string) commands.Spec { return commands.Spec{Name: name, Title: name} }
	at := func(name string) func(context.Context, *commands.Env, textArgs) (none, error) {
		return func(context.Context, *commands.Env, textArgs) (none, error) {
			f.running <- name
			return none{}, nil
		}
	}
	f.options.Commands = commands.NewTable(
		commands.New(spec("xcsh.prompt"), f.runHold),
		commands.New(spec("xcsh.steer"), at("steer")),
		commands.New(spec("xcsh.followUp"), f.runWait),
		commands.New(spec("xcsh.abort"), at("abort")),
		commands.New(spec("xcsh.setModel"), runPanic),
		commands.New(spec("xcsh.setThinking"), at("setThinking")),
		commands.New(spec("test.echo"), func(_ context.Context, _ *commands.Env, a textArgs) (textArgs, error) { return a, nil }),
	)
	return f
}

// Each notification waits for the previous one, while requests are answered. Abort runs at once, and
// again in order.
func TestNotificationsRunInTheirOrder(t *testing.T) {
	t.Parallel()
	f := hosting(t)
	ed := f.start(t)
	ed.Notify("xcsh/prompt", lsptest.Fields{"text": "prompt"})
	require.Equal(t, "prompt", receive(t, f.running))
	ed.Notify("xcsh/steer", nil)
	ed.Notify("xcsh/setModel", nil) // a panic does not keep the next command from running
	ed.Notify("xcsh/abort", lsptest.Fields{})
	ed.Notify("xcsh/setThinking", nil)
	_, err := ed.Exec("test.echo", nil)
	require.Nil(t, err)
	require.Equal(t, "abort", receive(t, f.running), "stopping commands do not wait")
	require.Empty(t, f.running)
	close(f.release)
	for _, want := range []string{"steer", "abort", "setThinking"} {
		require.Equal(t, want, receive(t, f.running))
	}
	require.Equal(t, 1, f.logs.FilterMessage("panic").Len())
}

// A client that needs an answer sends the command instead.
func TestNotificationsOfHostsAreNoRequests(t *testing.T) {
	t.Parallel()
	ed := hosting(t).start(t)
	_, err := ed.Call("xcsh/steer", nil)
	require.Equal(t, -32600, err.Code)
}

func TestTooManyNotificationsAreReported(t *testing.T) {
	t.Parallel()
	f := hosting(t)
	f.options.MaxInFlight = 2
	ed := f.start(t)
	ed.Notify("xcsh/prompt", lsptest.Fields{"text": "prompt"})
	require.Equal(t, "prompt", receive(t, f.running))
	ed.Notify("xcsh/steer", nil)
	ed.Notify("xcsh/setThinking", nil)
	require.Contains(t, string(ed.WaitNotification("window/showMessage")), "xcsh.setThinking: ")
	ed.Notify("xcsh/abort", nil)
	require.Equal(t, "abort", receive(t, f.running), "stopping commands have their own lane")
	close(f.release)
	require.Equal(t, "steer", receive(t, f.running))
	require.Equal(t, "abort", receive(t, f.running))
}

// The end of the server cancels the running notification and drops the waiting ones.
func TestNotificationsEndWithTheServer(t *testing.T) {
	t.Parallel()
	f := hosting(t)
	ed := f.start(t)
	ed.Notify("xcsh/followUp", lsptest.Fields{"text": "runs"})
	ed.Notify("xcsh/steer", nil)
	require.Equal(t, "runs", receive(t, f.running))
	ed.Shutdown()
	require.Error(t, receive(t, f.ended))
	require.Zero(t, ed.Exit().ExitCode())
}
