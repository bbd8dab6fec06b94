//go:build unix

package attack

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// servers writes definitions of MCP servers into a file.
func (v *victim) servers(path string, servers map[string]any) {
	v.t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": servers})
	require.NoError(v.t, err)
	v.write(path, string(raw))
}

// usersServers is the file of the user's own servers.
func (v *victim) usersServers() string { return filepath.Join(v.agentDir(), "mcp.json") }

// A server whose tool hangs, ends, prints rubbish, floods its standard error, answers 30 MB or leaves processes behind costs the
// call one result, and leaves no process.
func TestServerWithAFaultyTool(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	server := mcptest.Start(t, "ok", "MY_TOKEN="+secret)
	late := mcptest.Start(t, "late")
	hurried := late.Entry()
	hurried["timeout"] = 3000
	v.servers(v.usersServers(), map[string]any{"probe": server.Entry(), "late": hurried})
	calls := []providertest.Call{
		{Name: "mcp_probe_rubbish", Args: map[string]any{}},
		{Name: "mcp_probe_flood", Args: map[string]any{}},
		{Name: "mcp_probe_big", Args: map[string]any{"n": 30 << 20}},
		{Name: "mcp_probe_fork", Args: map[string]any{}},
		{Name: "mcp_probe_twice", Args: map[string]any{}},
		{Name: "mcp_probe_error", Args: map[string]any{}},
		{Name: "mcp_probe_die", Args: map[string]any{}},
		{Name: "mcp_probe_noise", Args: map[string]any{}},
		{Name: "mcp_late_hang", Args: map[string]any{}},
		{Name: "mcp_probe_echo", Args: map[string]any{"text": "again"}},
	}
	v.does(calls)
	out := v.ask("--approval", "yolo")
	require.Zero(t, out.code, out.stderr)
	results := v.results()
	require.Len(t, results, len(calls), out.stderr)
	for i, want := range []string{"after rubbish", "after the flood", "xxxx", "", "first", "MCP error", "not connected", "not connected", "does not answer", "echo: again"} {
		require.Contains(t, results[i], want, calls[i].Name)
	}
	require.Less(t, len(results[2]), 100<<10)
	require.NotContains(t, strings.Join(results, "\n")+out.stdout+out.stderr, secret)
	require.Empty(t, v.leaked())
	mcptest.Gone(t, append(server.Starts(t), late.Starts(t)...)...)
	mcptest.Gone(t, numbers(t, results[3])...)
}

func numbers(t *testing.T, text string) (all []int) {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		var n int
		require.NoError(t, json.Unmarshal([]byte(word), &n), text)
		all = append(all, n)
	}
	require.Len(t, all, 2)
	return all
}

// A folder's servers start nothing until the user trusts its set-up, and again when their commands change. Values of their variables are
// nowhere.
func TestServersOfAFolderNeedTrust(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	server := mcptest.Start(t, "ok", "MY_TOKEN="+secret)
	entry := server.Entry()
	v.servers(v.path(".xcsh/mcp.json"), map[string]any{"docs": entry})
	ask := func() (declared bool, stderr string) {
		t.Helper()
		v.Script("m", providertest.Reply{Text: "Done."})
		out := v.ask("--approval", "yolo")
		require.Zero(t, out.code, out.stderr)
		requests := v.Requests()
		require.NotContains(t, out.stdout+out.stderr, secret)
		return strings.Contains(string(requests[len(requests)-1].Body), "mcp_docs_echo"), out.stderr
	}
	declared, stderr := ask()
	require.False(t, declared)
	require.Contains(t, stderr, `The server "docs" of .xcsh/mcp.json was not started: this folder's set-up is not trusted yet. 'xcsh-ls setup' shows it. To use it, pass --trust all.`)
	require.Empty(t, server.Starts(t))

	require.Zero(t, v.run("setup", "--trust", "without-servers").code)
	declared, stderr = ask()
	require.False(t, declared)
	require.NotContains(t, stderr, "docs", "the user has decided")
	require.Empty(t, server.Starts(t))

	require.Zero(t, v.run("setup", "--trust", "all").code)
	declared, _ = ask()
	require.True(t, declared)
	require.Len(t, server.Starts(t), 1)

	entry["args"] = []string{"--other"}
	v.servers(v.path(".xcsh/mcp.json"), map[string]any{"docs": entry})
	declared, stderr = ask()
	require.False(t, declared)
	require.Contains(t, stderr, "changed since you trusted it")
	require.Len(t, server.Starts(t), 1)
	mcptest.Gone(t, server.Starts(t)...)
	require.Empty(t, v.leaked())
}

// A server that hangs, ends, prints rubbish or is missing when it is started costs the prompt at most a wait, and its value of a
// variable is not in the reason. The language server starts none before the first prompt.
func TestServersThatDoNotStart(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	servers, all := map[string]any{"missing": map[string]any{"command": "no-such-program-" + "x"}}, map[string]mcptest.Server{}
	for _, how := range []string{"die", "rubbish", "hang", "refuse", "greeting"} {
		all[how] = mcptest.Start(t, how, "MY_TOKEN="+secret)
		servers[how] = all[how].Entry()
	}
	v.servers(v.usersServers(), servers)
	v.does([]providertest.Call{{Name: "mcp_greeting_echo", Args: map[string]any{"text": "hi"}}, {Name: "mcp_die_echo", Args: map[string]any{}}})
	out := v.ask("--approval", "yolo")
	require.Zero(t, out.code, out.stderr)
	results := v.results()
	require.Len(t, results, 2)
	require.Equal(t, "echo: hi", results[0])
	require.Contains(t, results[1], `The tool mcp_die_echo is of the MCP server "die", which is not connected`)
	for _, want := range []string{
		"Started greeting (", `The MCP server "missing" could not be started: exec: "no-such-program-x": not found.`,
		`The MCP server "die" could not be started`, "Error: no database", `The MCP server "hang" does not answer; 10 s have passed. Its tools come when it does.`, `The MCP server "rubbish" could not be started`,
		`The MCP server "refuse" could not be started: no licence for [concealed].`,
	} {
		require.Contains(t, out.stderr, want)
	}
	require.NotContains(t, out.stdout+out.stderr+strings.Join(results, "\n"), secret)
	for _, s := range all {
		mcptest.Gone(t, s.Starts(t)...)
	}
}

// An agent of the Agent Client Protocol has the client's servers, whose names take precedence over those of files, and those of
// files unless a flag turns them off. A definition that cannot be used does not fail the session.
func TestServersOfAClient(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	file, other, client := mcptest.Start(t, "ok"), mcptest.Start(t, "ok"), mcptest.Start(t, "ok", "MY_TOKEN="+secret)
	v.servers(v.usersServers(), map[string]any{"docs": file.Entry(), "other": other.Entry()})
	variables := []any{}
	for _, e := range client.Env {
		name, value, _ := strings.Cut(e, "=")
		variables = append(variables, map[string]any{"name": name, "value": value})
	}
	servers := []any{
		map[string]any{"name": "docs", "command": client.Command, "args": []any{}, "env": variables},
		map[string]any{"type": "pigeon", "name": "odd"},
		5,
		map[string]any{"type": "http", "name": "web", "url": "no address", "headers": []any{}},
	}
	for _, only := range []bool{false, true} {
		flags := []string{"acp", "--model", "fake/m", "--approval", "yolo"}
		if only {
			flags = append(flags, "--no-mcp-files")
		}
		agent := v.speakACP(flags...)
		require.Contains(t, string(agent.call(1, "initialize", map[string]any{"protocolVersion": 1})), `"mcpCapabilities":{"http":true,"sse":true}`)
		var made struct{ SessionID string }
		require.NoError(t, json.Unmarshal(agent.call(2, "session/new", map[string]any{"cwd": v.work, "mcpServers": servers}), &made))
		v.does([]providertest.Call{{Name: "mcp_docs_echo", Args: map[string]any{"text": "hi"}}})
		agent.call(3, "session/prompt", map[string]any{"sessionId": made.SessionID, "prompt": []any{map[string]any{"type": "text", "text": "go"}}})
		require.Equal(t, []string{"echo: hi"}, v.results())
		requests := v.Requests()
		require.Equal(t, !only, strings.Contains(string(requests[len(requests)-1].Body), `"mcp_other_echo"`))
		agent.end()
		require.NotContains(t, agent.said.String(), secret)
		require.Contains(t, agent.said.String(), `The type \"pigeon\" of the MCP server \"odd\" is unknown`)
		details, _ := filepath.Glob(filepath.Join(v.agentDir(), "sessions", "*", "*"+made.SessionID+".jsonl"))
		require.Len(t, details, 1)
		require.Contains(t, v.read(details[0]), `"provider":"acp","providerName":"ACP Client"`)
	}
	require.Empty(t, file.Starts(t))
	require.Len(t, client.Starts(t), 2)
	require.Len(t, other.Starts(t), 1)
	mcptest.Gone(t, append(client.Starts(t), other.Starts(t)...)...)
}

// acpAgent is the program as an agent of the Agent Client Protocol.
type acpAgent struct {
	v     *victim
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	said  strings.Builder
}

func (v *victim) speakACP(flags ...string) *acpAgent {
	v.t.Helper()
	a := &acpAgent{v: v, cmd: v.command(flags...)}
	var err error
	a.in, err = a.cmd.StdinPipe()
	require.NoError(v.t, err)
	out, err := a.cmd.StdoutPipe()
	require.NoError(v.t, err)
	require.NoError(v.t, a.cmd.Start())
	a.lines = bufio.NewScanner(out)
	a.lines.Buffer(nil, 1<<24)
	return a
}

// call returns the result of a request.
func (a *acpAgent) call(id int, method string, params any) json.RawMessage {
	a.v.t.Helper()
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	require.NoError(a.v.t, err)
	_, err = fmt.Fprintf(a.in, "%s\n", raw)
	require.NoError(a.v.t, err)
	for a.lines.Scan() {
		a.said.Write(a.lines.Bytes())
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		require.NoError(a.v.t, json.Unmarshal(a.lines.Bytes(), &m))
		if m.Method == "" && string(m.ID) == fmt.Sprint(id) {
			require.Empty(a.v.t, m.Error, method)
			return m.Result
		}
	}
	require.Fail(a.v.t, "the agent ended", method)
	return nil
}

// end ends the agent, and reads the rest.
func (a *acpAgent) end() {
	a.v.t.Helper()
	require.NoError(a.v.t, a.in.Close())
	for a.lines.Scan() {
		a.said.Write(a.lines.Bytes())
	}
	require.NoError(a.v.t, a.cmd.Wait())
}
