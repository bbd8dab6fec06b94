package lsp_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/engine/find"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// badEngine is the message about an engine that does not exist.
const badEngine = `The option "engine" must be one of own, pi, omp, xcsh, claude-agent-acp, codex-acp, gemini, opencode, or an object with name, command and protocol; the default is used.`

func TestSettings(t *testing.T) {
	t.Parallel()
	no := false
	for name, tc := range map[string]struct {
		options  string
		want     lsp.Settings
		problems []string
	}{
		"absent":      {``, lsp.Settings{}, nil},
		"null":        {`null`, lsp.Settings{}, nil},
		"empty":       {`{}`, lsp.Settings{}, nil},
		"a Lua table": {`[]`, lsp.Settings{}, nil},
		"null in it":  {`{"agentDir":null,"startup":null,"ui":[],"persist":null}`, lsp.Settings{}, nil},
		"unknown":     {`{"future":1,"ui":{"glow":true},"startup":{"speed":2}}`, lsp.Settings{}, nil},
		"everything": {
			`{"agentDir":"/a","sessionDir":"/s","roots":["/r"],"persist":false,"terminalId":"tty1",
			"startup":{"mode":"resume","target":"abc"},"model":"p/m","thinkingLevel":"high","approval":"read-only","retries":0,"retryLimit":90,
			"ui":{"pick":true,"hooks":true},"history":{"enabled":false},"keys":{"commands":false},"export":{"open":false},"showResumeSummary":false,"lateValues":true,"restricted":true,"cacheRetention":"long","cache":{"maxBytes":0}}`,
			lsp.Settings{
				AgentDir: "/a", SessionDir: "/s", Roots: []string{"/r"}, Persist: &no, TerminalID: "tty1",
				Startup: lsp.Startup{Mode: "resume", Target: "abc"}, Model: "p/m", ThinkingLevel: "high", Approval: "read-only", Retries: new(0), RetryLimit: 90 * time.Second,
				UI: lsp.UISettings{Pick: true, Hooks: true}, History: lsp.HistorySettings{Enabled: &no}, Keys: lsp.KeySettings{Commands: &no}, Export: lsp.ExportSettings{Open: &no}, ShowSummary: &no, LateValues: true, Restricted: true, CacheRetention: "long", Cache: lsp.CacheSettings{MaxBytes: new(0)},
			},
			nil,
		},
		"wrong types keep the rest": {
			`{"agentDir":1,"roots":"/r","persist":"no","startup":"new","approval":"maybe","model":"p/m","ui":{"pick":1},"history":{"enabled":"no"},"keys":{"commands":1},"export":{"open":1}}`,
			lsp.Settings{Model: "p/m"},
			[]string{
				`The option "agentDir" must be a string; the default is used.`,
				`The option "approval" must be one of ask, auto-edit, yolo, read-only; the default is used.`,
				`The option "export.open" must be true or false; the default is used.`,
				`The option "history.enabled" must be true or false; the default is used.`,
				`The option "keys.commands" must be true or false; the default is used.`,
				`The option "persist" must be true or false; the default is used.`,
				`The option "roots" must be a list of strings; the default is used.`,
				`The option "startup" must be an object; the default is used.`,
				`The option "ui.pick" must be true or false; the default is used.`,
			},
		},
		"restricted fails closed": {
			`{"restricted":"false"}`, lsp.Settings{Restricted: true}, []string{`The option "restricted" must be true or false; true is used.`},
		},
		"too many retries": {
			`{"retries":101,"retryLimit":3601}`,
			lsp.Settings{},
			[]string{
				`The option "retries" must be a whole number from 0 to 100; the default is used.`,
				`The option "retryLimit" must be a whole number from 1 to 3600; the default is used.`,
			},
		},
		"retries that are no numbers": {
			`{"retries":"3","retryLimit":1.5}`,
			lsp.Settings{},
			[]string{
				`The option "retries" must be a whole number from 0 to 100; the default is used.`,
				`The option "retryLimit" must be a whole number from 1 to 3600; the default is used.`,
			},
		},
		"retries without a number": {`{"retries":null,"retryLimit":""}`, lsp.Settings{}, nil},
		"not restricted":           {`{"restricted":false}`, lsp.Settings{Trusted: true}, nil},
		"an engine by its name": {
			`{"engine":"pi","engineIdle":30,"engineExtensions":true,"machineScope":true}`,
			lsp.Settings{Engine: find.Setting{Name: "pi"}, EngineIdle: 30 * time.Minute, EngineExtensions: true, MachineScope: true},
			nil,
		},
		"our own loop": {`{"engine":"own"}`, lsp.Settings{Engine: find.Setting{Name: engine.Own}}, nil},
		"no engine":    {`{"engine":"","engineIdle":null}`, lsp.Settings{}, nil},
		"an engine by its command": {
			`{"engine":{"name":"mine","command":["/opt/agent","--acp"],"protocol":"acp"}}`,
			lsp.Settings{Engine: find.Setting{Name: "mine", Command: []string{"/opt/agent", "--acp"}, Protocol: engine.ACP}},
			nil,
		},
		"an unknown engine":              {`{"engine":"vim"}`, lsp.Settings{}, []string{badEngine}},
		"an engine without a command":    {`{"engine":{"name":"pi"}}`, lsp.Settings{}, []string{badEngine}},
		"an engine without a name":       {`{"engine":{"command":["/x"],"protocol":"acp"}}`, lsp.Settings{}, []string{badEngine}},
		"an engine without anything":     {`{"engine":{}}`, lsp.Settings{}, []string{badEngine}},
		"an engine with a relative path": {`{"engine":{"name":"x","command":["./x"],"protocol":"acp"}}`, lsp.Settings{}, []string{badEngine}},
		"engines of the wrong type": {
			`{"engine":["pi"],"engineIdle":0,"engineExtensions":"yes","machineScope":1}`,
			lsp.Settings{},
			[]string{
				`The option "engine" must be a name, or an object with name, command and protocol; the default is used.`,
				`The option "engineExtensions" must be true or false; the default is used.`,
				`The option "engineIdle" must be a whole number from 1 to 1440; the default is used.`,
			},
		},
		"not an object": {`"x"`, lsp.Settings{}, []string{`The option "initializationOptions" must be an object; the default is used.`}},
		"an unknown mode": {
			`{"startup":{"mode":"warp","target":"t"}}`,
			lsp.Settings{Startup: lsp.Startup{Target: "t"}},
			[]string{`The option "startup.mode" must be one of lazy, new, continue, resume, fork; the default is used.`},
		},
	} {
		got, problems := lsp.ReadSettings(rawJSON(tc.options), zap.NewNop())
		require.Equal(t, tc.want, got, name)
		require.Equal(t, tc.problems, problems, name)
	}
}

func TestUnknownOptionsAreLogged(t *testing.T) {
	t.Parallel()
	core, logs := observer.New(zap.InfoLevel)
	lsp.ReadSettings(rawJSON(`{"future":"secret","ui":{"glow":true}}`), zap.New(core))
	require.Equal(t, 2, logs.Len())
	require.Equal(t, "future", logs.All()[0].ContextMap()["option"])
	require.Equal(t, "ui.glow", logs.All()[1].ContextMap()["option"])
}

// One invalid option must not prevent the start.
func TestInvalidOptionsAreReported(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	ed := lsptest.Start(t, f.options)
	ed.Initialize(lsptest.Fields{"initializationOptions": lsptest.Fields{"persist": "no", "ui": lsptest.Fields{"pick": true}}})
	require.JSONEq(t, `{"type":2,"message":"The option \"persist\" must be true or false; the default is used."}`,
		string(ed.WaitNotification("window/showMessage")))
	s := receive(t, f.settings)
	require.Nil(t, s.Persist)
	require.True(t, s.UI.Pick)
}

func TestInitializeToleratesUnusualParams(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]string{
		"nothing":             `null`,
		"a Lua table":         `[]`,
		"capabilities a list": `{"processId":null,"rootUri":null,"capabilities":[]}`,
		"capabilities null":   `{"capabilities":null,"clientInfo":null,"workspaceFolders":null,"trace":null,"locale":null}`,
		"wrong types":         `{"processId":"x","rootUri":1,"rootPath":{},"capabilities":"x","clientInfo":[],"workspaceFolders":"x","trace":5}`,
		"lists inside":        `{"capabilities":{"general":[],"window":[],"workspace":[],"textDocument":[]},"clientInfo":{"name":[]}}`,
		"huge process id":     `{"processId":99999999999999999999,"capabilities":{}}`,
		"negative process id": `{"processId":-1,"capabilities":{}}`,
		"unknown fields":      `{"capabilities":{"future":{"a":[1]}},"future":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed := lsptest.Start(t, newFixture(t).options)
			res, err := ed.Call("initialize", rawJSON(params))
			require.Nil(t, err)
			require.Contains(t, string(res), `"positionEncoding":"utf-16"`)
			_, err = ed.Exec("test.echo", nil)
			require.Nil(t, err, "initialized was never sent, and need not be")
		})
	}
}
