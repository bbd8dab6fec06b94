package lsp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
)

// restrictable returns a fixture whose only command needs trust.
func restrictable(t *testing.T) *fixture {
	t.Helper()
	f := newFixture(t)
	f.options.Commands = commands.NewTable(commands.New(commands.Spec{Name: "test.change", Title: "Change", Flags: commands.NeedsTrust},
		func(context.Context, *commands.Env, none) (none, error) { return none{}, nil }))
	return f
}

func requireRestricted(t *testing.T, ed *lsptest.Editor) {
	t.Helper()
	_, err := ed.Exec("test.change", nil)
	require.NotNil(t, err)
	require.Equal(t, "denied", err.Kind())
	require.Equal(t, "test.change is disabled because the workspace is not trusted.", err.Message)
}

func TestAPushedConfigurationLiftsTheRestriction(t *testing.T) {
	t.Parallel()
	ed := lsptest.Start(t, restrictable(t).options)
	ed.Initialize(lsptest.Fields{"initializationOptions": lsptest.Fields{"restricted": true}})
	requireRestricted(t, ed)
	push := func(section lsptest.Fields) {
		ed.Notify("workspace/didChangeConfiguration", lsptest.Fields{"settings": lsptest.Fields{"xcshLs": section}})
	}
	push(lsptest.Fields{"model": ""})
	requireRestricted(t, ed)
	push(lsptest.Fields{"restricted": false})
	_, err := ed.Exec("test.change", nil)
	require.Nil(t, err)
}

// A client reports the user's decision and may send a command at once, before it has answered the
// request for the configuration.
func TestACommandWaitsForTheTrustThatWasReportedBeforeIt(t *testing.T) {
	t.Parallel()
	ed := lsptest.Start(t, restrictable(t).options)
	ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": lsptest.Fields{"restricted": true}})
	answerConfiguration(t, ed, lsptest.Fields{"restricted": true})
	requireRestricted(t, ed)
	ed.Notify("workspace/didChangeConfiguration", nil)
	command := ed.BeginExec("test.change", nil)
	answerConfiguration(t, ed, lsptest.Fields{"restricted": false})
	_, err := command.Wait()
	require.Nil(t, err)
}

// A client that does not answer leaves the workspace restricted.
func TestAnUnansweredRequestForTheConfigurationLiftsNothing(t *testing.T) {
	t.Parallel()
	ed := lsptest.Start(t, restrictable(t).options)
	ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": lsptest.Fields{"restricted": true}})
	ed.WaitRequest("workspace/configuration").Fail(-32601, "unsupported")
	requireRestricted(t, ed)
}
