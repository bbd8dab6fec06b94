package lsp_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/find"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// hostileSection is what a file of a workspace could put into the section of an editor without scopes.
var hostileSection = lsptest.Fields{
	"engine":           lsptest.Fields{"name": "pi", "command": []any{"/w/evil"}, "protocol": "pi-rpc"},
	"engineExtensions": true, "engineIdle": 1440, "restricted": false, "machineScope": true, "ui": lsptest.Fields{"pick": true},
}

const ignoredEngine = `{"type":2,"message":"The settings xcshLs.engine, xcshLs.engineExtensions, xcshLs.engineIdle are ignored because they may come from the workspace. ` +
	`Set them in the initialization options of your own configuration."}`

// The section of a client that does not say where its values come from never chooses an engine. The user learns so once.
func TestTheSectionDoesNotChooseAnEngine(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]lsptest.Fields{
		"none":              {},
		"another":           {"engine": "omp", "engineIdle": 5},
		"not a declaration": {"machineScope": false},
		"no boolean":        {"machineScope": "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, backends := configurable(t)
			ed := lsptest.Start(t, f.options)
			ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": options})
			first := receive(t, backends).settings
			answerConfiguration(t, ed, hostileSection)
			require.JSONEq(t, ignoredEngine, string(ed.WaitNotification("window/showMessage")))
			second := receive(t, backends).settings
			require.True(t, second.UI.Pick, "other settings count")
			require.Equal(t, []any{first.Engine, first.EngineIdle, false, false, false}, []any{second.Engine, second.EngineIdle, second.EngineExtensions, second.MachineScope, second.Trusted})
			for _, value := range []any{"gemini", "vim", lsptest.Fields{"command": 1}} {
				ed.Notify("workspace/didChangeConfiguration", lsptest.Fields{"settings": nil})
				answerConfiguration(t, ed, lsptest.Fields{"engine": value, "persist": "no", "ui": lsptest.Fields{"pick": true}})
				require.JSONEq(t, `{"type":2,"message":"The option \"xcshLs.persist\" must be true or false; the default is used."}`,
					string(ed.WaitNotification("window/showMessage")), "the only message")
			}
			require.True(t, picks(t, ed))
			require.Empty(t, backends, "nothing else changed")
		})
	}
}

// A client that sends its options again as its section has nothing to learn.
func TestTheSameEngineInTheSection(t *testing.T) {
	t.Parallel()
	f, backends := configurable(t)
	ed := lsptest.Start(t, f.options)
	options := lsptest.Fields{"engine": lsptest.Fields{"name": "x", "command": []any{"/x"}, "protocol": "acp"}, "engineIdle": 20, "persist": "no"}
	ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": options})
	require.Contains(t, string(ed.WaitNotification("window/showMessage")), "persist")
	answerConfiguration(t, ed, options)
	require.Contains(t, string(ed.WaitNotification("window/showMessage")), "xcshLs.persist")
	require.False(t, picks(t, ed))
	require.Equal(t, 20*time.Minute, receive(t, backends).settings.EngineIdle)
	require.Empty(t, backends)
}

// A client with settings of machine scope says so in its options, and its section then counts.
func TestTheSectionOfAClientWithScopes(t *testing.T) {
	t.Parallel()
	f, backends := configurable(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": lsptest.Fields{"machineScope": true, "restricted": true}})
	require.False(t, receive(t, backends).settings.Trusted)
	answerConfiguration(t, ed, lsptest.Fields{"engine": "pi", "engineIdle": 30, "engineExtensions": true, "restricted": false})
	require.False(t, picks(t, ed))
	s := receive(t, backends).settings
	require.Equal(t, []any{find.Setting{Name: "pi"}, 30 * time.Minute, true, true}, []any{s.Engine, s.EngineIdle, s.EngineExtensions, s.Trusted})
}

// An engine runs code of a workspace only if the client has said that the user trusts it, and the user wants that. Both
// are looked at when it starts.
func TestWhenAnEngineRunsCodeOfTheWorkspace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options, section lsptest.Fields
		want             bool
	}{
		"nothing is said":                   {nil, nil, false},
		"the user wants it":                 {lsptest.Fields{"engineExtensions": true}, nil, false},
		"the workspace is trusted":          {lsptest.Fields{"restricted": false}, nil, false},
		"both":                              {lsptest.Fields{"restricted": false, "engineExtensions": true}, nil, true},
		"not trusted":                       {lsptest.Fields{"restricted": true, "engineExtensions": true}, nil, false},
		"an unclear answer":                 {lsptest.Fields{"restricted": "no", "engineExtensions": true}, nil, false},
		"trust in a section of any origin":  {lsptest.Fields{"engineExtensions": true}, lsptest.Fields{"restricted": false}, false},
		"a wish in a section of any origin": {lsptest.Fields{"restricted": false}, lsptest.Fields{"engineExtensions": true}, false},
		"no trust in such a section":        {lsptest.Fields{"restricted": false, "engineExtensions": true}, lsptest.Fields{"restricted": true}, false},
		"a section with scopes": {
			lsptest.Fields{"machineScope": true, "restricted": true},
			lsptest.Fields{"restricted": false, "engineExtensions": true},
			true,
		},
		"trust is withdrawn": {
			lsptest.Fields{"machineScope": true, "restricted": false, "engineExtensions": true},
			lsptest.Fields{"restricted": true, "engineExtensions": true},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, backends := configurable(t)
			open, clients := f.options.Open, make(chan lsp.Client, 4)
			f.options.Open = func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
				clients <- c
				return open(ctx, s, c)
			}
			ed := lsptest.Start(t, f.options)
			ed.Initialize(lsptest.Fields{"capabilities": canBeAsked, "initializationOptions": c.options})
			client := receive(t, clients)
			answerConfiguration(t, ed, c.section)
			picks(t, ed) // the section is read
			require.Equal(t, c.want, client.RunsExtensions())
			receive(t, backends)
		})
	}
}
