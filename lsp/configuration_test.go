package lsp_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// opened is a call of Options.Open.
type opened struct {
	settings lsp.Settings
	live     *liveFake
}

// configurable returns a fixture with distinguishable backends, whose commands report whether the client
// picks.
func configurable(t *testing.T) (f *fixture, backends chan opened) {
	t.Helper()
	f, backends = newFixture(t), make(chan opened, 4)
	f.options.Open = func(_ context.Context, s lsp.Settings, _ lsp.Client) (lsp.Backend, error) {
		if s.AgentDir == "/unusable" {
			return lsp.Backend{}, errors.New("it is unusable")
		}
		o := opened{s, newLiveFake()}
		backends <- o
		return lsp.Backend{Live: o.live}, nil
	}
	asks := func(name string, yes func(*commands.Env) bool) commands.Command {
		return commands.New(commands.Spec{Name: name, Title: name}, func(_ context.Context, env *commands.Env, _ none) (hooked, error) {
			return hooked{Cancel: yes(env)}, nil
		})
	}
	f.options.Commands = commands.NewTable(
		asks("test.pick", func(env *commands.Env) bool { return env.Pick }),
		asks("test.opens", func(env *commands.Env) bool { return env.OpenPages }),
		asks("test.tell", func(env *commands.Env) bool { return env.Tell != nil }),
	)
	return f, backends
}

// picks runs a command that reports whether the client picks.
func picks(t *testing.T, ed *lsptest.Editor) bool {
	t.Helper()
	return saysYes(t, ed, "test.pick")
}

func saysYes(t *testing.T, ed *lsptest.Editor, command string) bool {
	t.Helper()
	raw, failure := ed.Exec(command, nil)
	require.Nil(t, failure)
	var h hooked
	require.NoError(t, json.Unmarshal(raw, &h))
	return h.Cancel
}

var canBeAsked = lsptest.Fields{"workspace": lsptest.Fields{"configuration": true}}

// answerConfiguration answers the request for the section.
func answerConfiguration(t *testing.T, ed *lsptest.Editor, section any) {
	t.Helper()
	r := ed.WaitRequest("workspace/configuration")
	require.JSONEq(t, `{"items":[{"section":"xcshLs"}]}`, string(r.Params))
	r.Reply([]any{section})
}

func TestTheConfigurationWinsOverTheOptions(t *testing.T) {
	t.Parallel()
	f, backends := configurable(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": lsptest.Fields{
		"agentDir": "/a", "sessionDir": "/s", "startup": lsptest.Fields{"mode": "resume", "target": "x"}, "ui": lsptest.Fields{"hooks": true},
	}})
	first := receive(t, backends)
	require.Equal(t, "/a", first.settings.AgentDir)
	answerConfiguration(t, ed, lsptest.Fields{
		"agentDir": "/b", "sessionDir": "", "model": nil, "startup": lsptest.Fields{"mode": "new"}, "ui": lsptest.Fields{"pick": true},
	})
	require.True(t, picks(t, ed), "the first command finds it in force")
	second := receive(t, backends)
	require.Equal(t, lsp.Settings{
		AgentDir: "/b", SessionDir: "/s", Startup: lsp.Startup{Mode: "new", Target: "x"}, UI: lsp.UISettings{Pick: true, Hooks: true},
	}, second.settings)
	receive(t, first.live.done)
	ed.Shutdown()
	receive(t, second.live.done)
}

func TestUnchangedConfigurationChangesNothing(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]any{
		"null": nil, "empty": lsptest.Fields{}, "a Lua table": []any{}, "the same": lsptest.Fields{"agentDir": "/a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, backends := configurable(t)
			ed := lsptest.Start(t, f.options)
			ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": lsptest.Fields{"agentDir": "/a"}})
			answerConfiguration(t, ed, answer)
			require.False(t, picks(t, ed))
			receive(t, backends)
			require.Empty(t, backends, "one backend only")
		})
	}
}

func TestAClientThatHasNoConfigurationAfterAll(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(f *fixture, r lsptest.Request){
		"an error":      func(_ *fixture, r lsptest.Request) { r.Fail(-32601, "what?") },
		"no list":       func(_ *fixture, r lsptest.Request) { r.Reply(lsptest.Fields{"agentDir": "/b"}) },
		"an empty list": func(_ *fixture, r lsptest.Request) { r.Reply([]any{}) },
		"no answer":     func(f *fixture, _ lsptest.Request) { f.clock.advance(lsp.ConfigurationTime) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, backends := configurable(t)
			ed := lsptest.Start(t, f.options)
			ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": lsptest.Fields{"ui": lsptest.Fields{"pick": true}}})
			answer(f, ed.WaitRequest("workspace/configuration"))
			require.True(t, picks(t, ed), "the options stay in force")
			receive(t, backends)
			require.Empty(t, backends)
		})
	}
}

func TestProblemsOfTheConfigurationAreReported(t *testing.T) {
	t.Parallel()
	f, _ := configurable(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"capabilities": canBeAsked})
	answerConfiguration(t, ed, lsptest.Fields{"persist": "no"})
	require.JSONEq(t, `{"type":2,"message":"The option \"xcshLs.persist\" must be true or false; the default is used."}`,
		string(ed.WaitNotification("window/showMessage")))
	ed.Notify("workspace/didChangeConfiguration", lsptest.Fields{"settings": nil})
	answerConfiguration(t, ed, lsptest.Fields{"agentDir": "/unusable", "ui": lsptest.Fields{"pick": true}})
	require.JSONEq(t, `{"type":2,"message":"The changed settings could not be applied: it is unusable"}`,
		string(ed.WaitNotification("window/showMessage")))
	require.False(t, picks(t, ed), "the existing backend stays")
}

// Proves: AB-040, AB-087
func TestAChangeWhileSessionsAreOpenTakesNothingAway(t *testing.T) {
	t.Parallel()
	f, backends := configurable(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"capabilities": canBeAsked})
	answerConfiguration(t, ed, nil)
	require.False(t, picks(t, ed))
	require.True(t, saysYes(t, ed, "test.tell"))
	require.True(t, saysYes(t, ed, "test.opens"))
	receive(t, backends)
	ed.Notify("workspace/didChangeConfiguration", nil)
	answerConfiguration(t, ed, lsptest.Fields{"agentDir": "/b", "roots": []string{"/r"}, "ui": lsptest.Fields{"pick": true}, "showResumeSummary": false})
	require.JSONEq(t, `{"type":2,"message":"A change of agentDir, roots takes effect when the server is restarted."}`,
		string(ed.WaitNotification("window/showMessage")))
	ed.Notify("workspace/didChangeConfiguration", nil)
	answerConfiguration(t, ed, lsptest.Fields{"agentDir": "/b", "roots": []string{"/r"}, "ui": lsptest.Fields{"pick": true}, "showResumeSummary": false, "retries": 5, "retryLimit": 9, "export": lsptest.Fields{"open": false}})
	require.JSONEq(t, `{"type":2,"message":"A change of retries, retryLimit takes effect when the server is restarted."}`,
		string(ed.WaitNotification("window/showMessage")))
	require.True(t, picks(t, ed), "settings that can change at once do")
	require.False(t, saysYes(t, ed, "test.tell"))
	require.False(t, saysYes(t, ed, "test.opens"))
	require.Empty(t, backends)
}

func TestStartUpWorkKeepsItsBackend(t *testing.T) {
	t.Parallel()
	f, backends := configurable(t)
	started := make(chan bool, 1)
	f.options.Started = func(_ context.Context, env *commands.Env) { started <- env.Pick }
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"capabilities": canBeAsked})
	answerConfiguration(t, ed, lsptest.Fields{"startup": lsptest.Fields{"mode": "continue"}, "ui": lsptest.Fields{"pick": true}})
	require.True(t, receive(t, started), "it begins with the configuration in force")
	require.Empty(t, receive(t, backends).settings.Startup.Mode)
	require.Equal(t, "continue", receive(t, backends).settings.Startup.Mode)
	ed.Notify("workspace/didChangeConfiguration", nil)
	answerConfiguration(t, ed, lsptest.Fields{"startup": lsptest.Fields{"mode": "continue"}, "ui": lsptest.Fields{"pick": true}, "agentDir": "/b"})
	require.Contains(t, string(ed.WaitNotification("window/showMessage")), "agentDir takes effect when")
	require.Empty(t, backends)
}

// A client without workspace/configuration pushes its entire configuration.
// Proves: AB-087
func TestAPushedConfigurationIsRead(t *testing.T) {
	t.Parallel()
	f, backends := configurable(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(nil)
	for _, settings := range []any{
		nil,
		[]any{},
		"x",
		lsptest.Fields{"other": lsptest.Fields{"agentDir": "/o"}}, // not about us
		lsptest.Fields{"xcshLs": lsptest.Fields{"agentDir": "/b"}},
		lsptest.Fields{"xcshLs": lsptest.Fields{"agentDir": "/c", "ui": lsptest.Fields{"pick": true}}},
	} {
		ed.Notify("workspace/didChangeConfiguration", lsptest.Fields{"settings": settings})
	}
	for _, dir := range []string{"", "/b", "/c"} {
		require.Equal(t, dir, receive(t, backends).settings.AgentDir, "in order")
	}
	require.True(t, picks(t, ed))
	require.Empty(t, backends)
}

func TestTheServerRegistersForChanges(t *testing.T) {
	t.Parallel()
	f, _ := configurable(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"capabilities": lsptest.Fields{"workspace": lsptest.Fields{
		"configuration": true, "didChangeConfiguration": lsptest.Fields{"dynamicRegistration": true},
	}}})
	answerConfiguration(t, ed, nil)
	r := ed.WaitRequest("client/registerCapability")
	require.JSONEq(t, `{"registrations":[{"id":"xcshLs","method":"workspace/didChangeConfiguration","registerOptions":{"section":"xcshLs"}}]}`,
		string(r.Params))
	require.False(t, picks(t, ed), "commands do not wait for that answer")
	r.Reply(nil)
}
