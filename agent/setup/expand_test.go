package setup_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// agentDirs are the agent directories of the programs, in the form of world.file.
var agentDirs = map[session.Dialect]string{session.Pi: "~/.pi/agent/", session.Omp: "~/.omp/agent/", session.Xcsh: "~/.xcsh/agent/"}

// expanded returns the expanded definition of a server of the user.
func expanded(t *testing.T, program session.Dialect, entry string) setup.Expanded {
	t.Helper()
	w := newWorld(t).file(agentDirs[program]+"mcp.json", `{"mcpServers":{"s":`+entry+`}}`)
	s, ok := w.resolve(program).Server("s")
	require.True(t, ok, "%s %s", program, entry)
	return w.Expand(s, program, folder)
}

// The programs were run with MY_ARG=argument and without MY_UNSET.
func TestExpansion(t *testing.T) {
	t.Parallel()
	const leftOut = "(left out)"
	for _, c := range []struct{ where, value, pi, omp, xcsh string }{
		{"args", "${MY_ARG}", "${MY_ARG}", "argument", "argument"},
		{"args", "${MY_UNSET:-fallback}", "${MY_UNSET:-fallback}", "fallback", "fallback"},
		{"args", "${MY_UNSET}", "${MY_UNSET}", "${MY_UNSET}", "${MY_UNSET}"},
		{"args", "~/probe.mjs", home + "/probe.mjs", "~/probe.mjs", "~/probe.mjs"},
		{"env", "x-${MY_ARG}-y", "x-argument-y", "x-argument-y", "x-argument-y"},
		{"env", "$MY_ARG", "argument", "$MY_ARG", "$MY_ARG"},
		{"env", "MY_ARG", "MY_ARG", "argument", "argument"},
		{"env", "NOT_SET_VARIABLE", "NOT_SET_VARIABLE", "NOT_SET_VARIABLE", leftOut},
		{"env", "ordinary", "ordinary", "ordinary", "ordinary"},
		{"env", "!echo x", "command: echo x", "command: echo x", "command: echo x"},
		{"env", "$$5 $!", "$5 !", "$$5 $!", "$$5 $!"},
		{"env", "$MY_UNSET", leftOut, "$MY_UNSET", "$MY_UNSET"},
		{"headers", "Bearer ${TOKEN}", "Bearer secret-value", "Bearer secret-value", "Bearer secret-value"},
	} {
		for program, want := range map[session.Dialect]string{session.Pi: c.pi, session.Omp: c.omp, session.Xcsh: c.xcsh} {
			value, err := json.Marshal(c.value)
			require.NoError(t, err)
			var got string
			text := func(values []setup.Value) string {
				switch {
				case len(values) == 0:
					return leftOut
				case values[0].Command != "":
					return "command: " + values[0].Command
				default:
					return values[0].Text
				}
			}
			switch c.where {
			case "args":
				got = expanded(t, program, fmt.Sprintf(`{"command":"x","args":[%s]}`, value)).Args[0]
			case "env":
				got = text(expanded(t, program, fmt.Sprintf(`{"command":"x","env":{"V":%s}}`, value)).Env)
			default:
				got = text(expanded(t, program, fmt.Sprintf(`{"type":"http","url":"https://h/mcp","headers":{"H":%s}}`, value)).Headers)
			}
			assert.Equal(t, want, got, "%s: %s %q", program, c.where, c.value)
		}
	}
}

func TestWhereServersStart(t *testing.T) {
	t.Parallel()
	assert.Equal(t, home+"/bin/x", expanded(t, session.Pi, `{"command":"~/bin/x","cwd":"~/d"}`).Command)
	assert.Equal(t, home+"/d", expanded(t, session.Pi, `{"command":"x","cwd":"~/d"}`).Cwd)
	assert.Equal(t, folder+"/sub", expanded(t, session.Pi, `{"command":"x","cwd":"sub"}`).Cwd)
	assert.Equal(t, folder, expanded(t, session.Omp, `{"command":"x"}`).Cwd)
	assert.Equal(t, []string{"The variable V is left out because a variable that it refers to is not set."}, expanded(t, session.Pi, `{"command":"x","env":{"V":"$NONE"}}`).LeftOut)
}

// Neither the JSON form nor a log has the values of variables, headers, options and addresses.
func TestNoSecretIsShown(t *testing.T) {
	t.Parallel()
	// In pieces, so that no scanner of this repository finds keys in it.
	secrets := strings.NewReplacer("<address>", "postgres://u:"+"SECRET3@h/db", "<token>", "ghp_"+strings.ToLower("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), "<kind>", "Secret", "<user>", "u:"+"SECRET6@")
	w := newWorld(t).file("~/.omp/agent/mcp.json", secrets.Replace(`{"mcpServers":{
		"a":{"command":"npx","args":["-y","pkg","--api-key","SECRET1","--token=SECRET2","<address>","<token>"],
			"env":{"KEY":"SECRET4","T":"${TOKEN}"},"auth":{"client<kind>":"SECRET5"}},
		"b":{"type":"http","url":"https://<user>h/mcp/SECRET7abcdefghijklmnop1?key=SECRET8#SECRET9","headers":{"Authorization":"Bearer SECRET10","X":"${TOKEN}"},"oauth":{"client<kind>":"SECRET11"}}}}`)).
		file("~/.omp/agent/config.yml", "shellPath: /bin/sh\nmodelRoles:\n  default: a/b\n")
	r := w.resolve(session.Omp)
	require.Equal(t, []string{"a", "b"}, servers(r))
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	a, _ := r.Server("a")
	for _, text := range []string{string(raw), fmt.Sprintf("%+v %#v %v", a.Definition, a.Definition, r.Servers), fmt.Sprintf("%+v", w.Expand(a, session.Omp, folder))} {
		for _, secret := range []string{"SECRET", "secret-value", "ghp_"} {
			assert.NotContains(t, text, secret)
		}
	}
	assert.Equal(t, []string{"KEY", "T"}, a.Variables)
	assert.Contains(t, a.Starts, "npx -y pkg --api-key … --token=…")
	b, _ := r.Server("b")
	assert.Equal(t, "https://…@h/mcp/…?key=…", b.Starts)
	assert.Equal(t, []string{"Authorization", "X"}, b.HeaderNames)
}

func TestDefinitions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program     session.Dialect
		entry, want string // the transport, or the reason for which the server is not used
	}{
		{session.Omp, `{"url":"https://h"}`, `it has an address but no "type": "http"`},
		{session.Pi, `{"url":"https://h"}`, "http"},
		{session.Omp, `{"command":"x","url":"https://h"}`, "it has both a command and an address"},
		{session.Omp, `{"type":"sse","url":"https://h"}`, "sse"},
		{session.Xcsh, `{"type":"http","url":"https://h"}`, "http"},
		{session.Pi, `{"type":"streamable-http","url":"https://h"}`, "http"},
		{session.Omp, `{"type":"carrier-pigeon","command":"x"}`, "its type is unknown"},
		{session.Omp, `{}`, "it has no command"},
		{session.Omp, `{"type":"http"}`, "it has no address"},
		{session.Omp, `{"command":["x"]}`, `"command" must be a text`},
		{session.Omp, `{"command":"x","args":"y"}`, `"args" must be a list of texts`},
		{session.Omp, `{"command":"x","env":{"A=B":"c"}}`, `"env" must be an object of texts`},
		{session.Omp, `{"command":"x","env":{"A":{}}}`, `"env" must be an object of texts`},
		{session.Omp, `{"command":"x","timeout":-1}`, `"timeout" is not a positive number`},
		{session.Omp, `{"command":"x\u0000y"}`, `"command" must be a text`},
		{session.Omp, `[]`, "its definition is not an object"},
		{session.Omp, `{"command":"x","args":[1,true],"env":{"N":1}}`, "stdio"},
	} {
		r := newWorld(t).file(agentDirs[c.program]+"mcp.json", "\uFEFF"+`{"mcpServers":{"s":`+c.entry+`}}`).resolve(c.program)
		if s, ok := r.Server("s"); ok {
			assert.Equal(t, c.want, string(s.Transport), c.entry)
			continue
		}
		require.Len(t, r.Problems, 1, c.entry)
		assert.Contains(t, r.Problems[0].Text, `the server "s" is not used: `+c.want+".", c.entry)
	}
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		program session.Dialect
		entry   string
		ms      int64
	}{
		{session.Pi, `{"command":"x"}`, 60_000},
		{session.Pi, `{"command":"x","timeout":5}`, 5000},
		{session.Omp, `{"command":"x"}`, 30_000},
		{session.Omp, `{"command":"x","timeout":5}`, 5},
		{session.Omp, `{"command":"x","timeout":0}`, 0},
		{session.Xcsh, `{"command":"x"}`, 30_000},
		{session.Xcsh, `{"command":"x","timeout":1e300}`, 86_400_000},
	} {
		s, ok := newWorld(t).file(agentDirs[c.program]+"mcp.json", `{"mcpServers":{"s":`+c.entry+`}}`).resolve(c.program).Server("s")
		require.True(t, ok)
		assert.Equal(t, c.ms, s.TimeoutMs, "%s %s", c.program, c.entry)
	}
	w := newWorld(t).file("~/.omp/agent/mcp.json", `{"mcpServers":{"s":{"command":"x","timeout":5}}}`)
	w.Getenv = func(name string) string { return map[string]string{"OMP_MCP_TIMEOUT_MS": "77"}[name] }
	s, _ := w.resolve(session.Omp).Server("s")
	assert.EqualValues(t, 77, s.TimeoutMs)
}

func TestServersThatAreTurnedOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("~/.omp/agent/mcp.json", `{"mcpServers":{"a":{"command":"a","enabled":false},"b":{"command":"b","enabled":"1"},"c":{"command":"c","enabled":"no"},"d":{"command":"d","enabled":false},
		"e":{"command":"e"},"twin":{"command":"e"}},"enabledServers":["d"]}`)
	r := w.resolve(session.Omp)
	assert.Equal(t, []string{"b", "d", "e"}, servers(r))
	assert.Equal(t, `It is the same as the server "e".`, why(r, setup.KindServer, "twin"))
	assert.Equal(t, "It is turned off in its definition.", why(r, setup.KindServer, "a"))

	// pi makes the same tool names of names that differ in "-" and "_" only.
	r = newWorld(t).file("~/.pi/agent/mcp.json", `{"mcpServers":{"a-b":{"command":"x"},"a_b":{"command":"y"}}}`).resolve(session.Pi)
	assert.Len(t, r.Servers, 1)
}
