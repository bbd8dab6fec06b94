//go:build unix

package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// How long something may take on a busy machine, and how often it is looked at.
const (
	patience = time.Minute
	tick     = time.Millisecond
)

// concealed is the value of a variable of the server.
const concealed = "the-words-of-a-variable"

// withServer defines the probe in a file of the user.
func (m *machine) withServer(dir, name string, env ...string) mcptest.Server {
	m.t.Helper()
	probe := mcptest.Start(m.t, "ok", append([]string{"MY_TOKEN=" + concealed}, env...)...)
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{name: probe.Entry()}})
	require.NoError(m.t, err)
	m.write(filepath.Join(m.home, dir, "agent", "mcp.json"), string(raw))
	return probe
}

// opened starts the program as a language server on the folder.
func (m *machine) opened(options lsptest.Fields, args ...string) *lsptest.Editor {
	m.t.Helper()
	ed := lsptest.StartProcess(m.t, m.command(append([]string{"--stdio"}, args...)...))
	all := lsptest.Fields{"model": "fake/m"}
	maps.Copy(all, options)
	ed.Initialize(lsptest.Fields{
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
		"initializationOptions": all, "capabilities": lsptest.Fields{},
	})
	return ed
}

func carry(t *testing.T, ed *lsptest.Editor, command string, args any) json.RawMessage {
	t.Helper()
	raw, failure := ed.Exec(command, args)
	require.Nil(t, failure)
	return raw
}

// toolNames returns the names of the tools of a request that belong to servers.
func toolNames(r providertest.Request) (names []string) {
	for _, t := range r.Tools {
		if strings.HasPrefix(t.Name, "mcp_") {
			names = append(names, t.Name)
		}
	}
	return names
}

// declares reports whether a request declares a tool.
func declares(r providertest.Request, name string) bool {
	return slices.ContainsFunc(r.Tools, func(t provider.Tool) bool { return t.Name == name })
}

// messagesOf returns the messages of the server to the editor so far.
func messagesOf(ed *lsptest.Editor) string {
	var b strings.Builder
	for _, m := range ed.Messages() {
		raw, _ := json.Marshal(m)
		b.Write(append(raw, '\n'))
	}
	return b.String()
}

// A server starts with the first prompt, and its tool is called by every name that a conversation may use. Its progress is seen, its
// instructions are at the end of the system prompt, and no value of its variables leaves the machine.
func TestServersOfTheUser(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	probe := m.withServer(".xcsh", "Probe-One.x")
	ed := m.opened(lsptest.Fields{"approval": "yolo"})
	require.Contains(t, string(carry(t, ed, "xcsh.mcp", nil)), `"state":"notStarted"`)
	carry(t, ed, "xcsh.setup", nil)
	carry(t, ed, "xcsh.dump", nil)
	require.Empty(t, probe.Starts(t))

	args := map[string]any{"text": "hi"}
	m.Script("m",
		providertest.Reply{ToolCalls: calls("mcp_probe_one_x_echo", args)},
		providertest.Reply{ToolCalls: calls("mcp__Probe_One_x__echo", args)},
		providertest.Reply{ToolCalls: calls("mcp__probe_one_x_echo", map[string]any{"text": "hi", "_i": "Greeting"})},
		providertest.Reply{ToolCalls: calls("write", map[string]any{"path": "xd://mcp__probe_one_x_echo", "content": `{"text":"hi"}`})},
		providertest.Reply{ToolCalls: calls("read", map[string]any{"path": "xd://mcp__probe_one_x_echo"})},
		providertest.Reply{ToolCalls: calls("mcp_probe_one_x_progress", map[string]any{})},
		providertest.Reply{ToolCalls: calls("mcp_probe_one_x_gone", map[string]any{})},
		providertest.Reply{ToolCalls: calls("read", map[string]any{"path": "mcp://probe://doc/1"})},
		providertest.Reply{Text: "Done."})
	carry(t, ed, "xcsh.prompt", lsptest.Fields{"text": "go"})
	requests := m.Requests()
	require.Len(t, requests, 9)
	require.Equal(t, "contents of probe://doc/1", lastResult(t, requests[8]))
	require.True(t, declares(requests[0], "mcp_probe_one_x_echo"), requests[0].Tools)
	require.Equal(t, requests[0].Tools, requests[7].Tools)
	require.Equal(t, requests[0].System, requests[7].System)
	require.True(t, strings.HasSuffix(strings.TrimSpace(requests[0].System), "Call echo first.\n</server>\n</mcp_servers>"), requests[0].System)
	for i := range 4 {
		require.Equal(t, "echo: hi", lastResult(t, requests[i+1]))
	}
	require.Contains(t, lastResult(t, requests[5]), `"required":["text"]`)
	require.Equal(t, "done", lastResult(t, requests[6]))
	require.Contains(t, lastResult(t, requests[7]), "There is no tool mcp_probe_one_x_gone now. These are of the same server: mcp_probe_one_x_add_numbers")
	require.NoFileExists(t, m.path("xd:"))
	require.Len(t, probe.Starts(t), 1)

	all := messagesOf(ed)
	require.Contains(t, all, "Started Probe-One.x (")
	require.Regexp(t, `"type":"tool_execution_update"[^\n]*step 1`, all)
	listed := string(carry(t, ed, "xcsh.mcp", nil))
	require.Contains(t, listed, `"state":"connected"`)
	require.Contains(t, listed, `"Add.Numbers-2"`)

	// The records are those of the program.
	file := m.read(m.sessionFile())
	require.Contains(t, file, `"details":{"serverName":"Probe-One.x","mcpToolName":"echo","rawContent":[{"type":"text","text":"echo: hi"}],"provider":"native","providerName":"OMP"}`)

	// Its prompts are slash commands.
	require.Eventually(t, func() bool {
		return strings.Contains(string(carry(t, ed, "xcsh.commandsList", nil)), `{"name":"Probe-One.x:greet","description":"Greets","hint":"who=… [how=…]","source":"mcp","scope":"user"}`)
	}, patience, tick)
	m.Script("m", providertest.Reply{Text: "Hello."})
	require.Contains(t, string(carry(t, ed, "xcsh.prompt", lsptest.Fields{"text": "/Probe-One.x:greet who=\"the World\" how=loudly"})), `"expanded":{"name":"Probe-One.x:greet"}`)
	require.Contains(t, m.Requests()[9].LastText(), "Greet the World loudly")

	_, failure := ed.Exec("xcsh.mcp", lsptest.Fields{"action": "reconnect", "server": "Probe-One.x"})
	require.Nil(t, failure)
	require.Len(t, probe.Starts(t), 2)
	_, failure = ed.Exec("xcsh.mcp", lsptest.Fields{"action": "reconnect", "server": "other"})
	require.NotNil(t, failure)
	carry(t, ed, "xcsh.snapshot", nil)
	ed.Shutdown()
	ed.Exit()
	mcptest.Gone(t, probe.Starts(t)...)
	for _, text := range []string{messagesOf(ed), file, string(requests[7].Body)} {
		require.NotContains(t, text, concealed)
	}
}

// A change of the tools of a server is in the next request and in none before it. The tools of a session of pi have pi's names.
func TestServersThatChangeTheirTools(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	probe := m.withServer(".pi", "Probe-One")
	path := filepath.Join(m.home, ".pi", "agent", "sessions", "--"+strings.ReplaceAll(strings.Trim(m.work, "/"), "/", "-")+"--", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
	cwd := string(rawjson.Quote(m.work))
	m.write(path, `{"type":"session","version":3,"id":"0190000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":`+cwd+`}
{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"first words","timestamp":1767225601000}}
{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"first answer"}],"api":"anthropic-messages","provider":"fake","model":"m","usage":{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":1767225602000}}
`)
	m.Script("m",
		providertest.Reply{ToolCalls: calls("mcp__Probe_One__grow", map[string]any{})},
		providertest.Reply{ToolCalls: calls("mcp__Probe_One__grown", map[string]any{})},
		providertest.Reply{ToolCalls: calls("mcp__Probe_One__shrink", map[string]any{})},
		providertest.Reply{ToolCalls: calls("mcp__Probe_One__echo", map[string]any{"text": "x"})},
		providertest.Reply{Text: "Done."})
	code, _, stderr := m.run("run", "--resume", "0190000000000001", "--model", "fake/m", "--approval", "yolo", "go")
	require.Zero(t, code, stderr)
	requests := m.Requests()
	require.Len(t, requests, 5)
	require.False(t, declares(requests[0], "mcp__Probe_One__grown"))
	require.True(t, declares(requests[1], "mcp__Probe_One__grown"), requests[1].Tools)
	require.Equal(t, "called grown", lastResult(t, requests[2]))
	require.True(t, declares(requests[2], "mcp__Probe_One__echo"))
	require.False(t, declares(requests[3], "mcp__Probe_One__echo"))
	require.Contains(t, lastResult(t, requests[4]), "There is no tool mcp__Probe_One__echo now.")
	require.Contains(t, m.read(path), `"details":{"server":"Probe-One","tool":"grow"}`)
	mcptest.Gone(t, probe.Starts(t)...)
}

// A change of the definition of a server restarts that one alone, and a server that is not defined any more ends alone.
func TestServersWhoseDefinitionsChange(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	one, two := mcptest.Start(t, "ok"), mcptest.Start(t, "ok")
	ed := m.opened(lsptest.Fields{"approval": "yolo"})
	prompt := func(servers map[string]any) providertest.Request {
		t.Helper()
		raw, err := json.Marshal(map[string]any{"mcpServers": servers})
		require.NoError(t, err)
		m.write(filepath.Join(m.agentDir(), "mcp.json"), string(raw))
		m.Script("m", providertest.Reply{ToolCalls: calls("mcp_one_echo", map[string]any{"text": "hi"})}, providertest.Reply{Text: "Done."})
		carry(t, ed, "xcsh.prompt", lsptest.Fields{"text": "go"})
		all := m.Requests()
		require.Equal(t, "echo: hi", lastResult(t, all[len(all)-1]))
		return all[len(all)-1]
	}
	require.True(t, declares(prompt(map[string]any{"one": one.Entry(), "two": two.Entry()}), "mcp_two_echo"))
	other := two.Entry()
	other["args"] = []string{"another"}
	require.True(t, declares(prompt(map[string]any{"one": one.Entry(), "two": other}), "mcp_two_echo"))
	require.Len(t, two.Starts(t), 2)
	mcptest.Gone(t, two.Starts(t)[0])
	require.False(t, declares(prompt(map[string]any{"one": one.Entry()}), "mcp_two_echo"))
	mcptest.Gone(t, two.Starts(t)[1])
	require.True(t, declares(prompt(map[string]any{"three": two.Entry(), "one": one.Entry()}), "mcp_three_echo"))
	require.Len(t, one.Starts(t), 1)
	ed.Shutdown()
	ed.Exit()
	mcptest.Gone(t, append(one.Starts(t), two.Starts(t)...)...)
	require.Equal(t, 1, strings.Count(messagesOf(ed), "Started one ("))
	require.Equal(t, 2, strings.Count(messagesOf(ed), "Started two ("))
}

// A session that records its tools has no resource of a server either, by whatever name.
func TestServersOfASessionWithItsOwnTools(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.withServer(".xcsh", "probe")
	path := filepath.Join(m.agentDir(), "sessions", "--"+strings.ReplaceAll(strings.Trim(m.work, "/"), "/", "-")+"--", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
	m.write(path, `{"type":"session","version":3,"id":"0190000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":`+string(rawjson.Quote(m.work))+`}
{"type":"session_init","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","task":"t","tools":["read","mcp_probe_echo","mcp_probe_gone"]}
{"type":"message","id":"bbbbbbbb","parentId":"aaaaaaaa","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"user","content":"first words","timestamp":1767225601000}}
`)
	m.Script("m",
		providertest.Reply{ToolCalls: calls("mcp_probe_echo", map[string]any{"text": "hi"})},
		providertest.Reply{ToolCalls: calls("read", map[string]any{"path": "mcp://probe://doc/1"})},
		providertest.Reply{ToolCalls: calls("read_mcp_resource", map[string]any{"server": "probe", "uri": "probe://doc/1"})},
		providertest.Reply{ToolCalls: calls("search_tools", map[string]any{"query": "x"})},
		providertest.Reply{Text: "Done."})
	code, _, stderr := m.run("run", "--resume", "0190000000000001", "--model", "fake/m", "--approval", "yolo", "go")
	require.Zero(t, code, stderr)
	require.NotContains(t, stderr, "don't exist here", "the server may have them")
	requests := m.Requests()
	require.Len(t, requests, 5)
	require.Len(t, requests[0].Tools, 2)
	require.Equal(t, "echo: hi", lastResult(t, requests[1]))
	for i, name := range []string{"read", "read_mcp_resource", "search_tools"} {
		require.Equal(t, "The tool "+name+" is turned off in this session.", lastResult(t, requests[i+2]))
	}
}

// A call that is stopped is cancelled at the server.
func TestServersGetTheCancellationOfACall(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	probe := m.withServer(".xcsh", "probe")
	ed := m.opened(lsptest.Fields{"approval": "yolo"})
	m.Script("m", providertest.Reply{ToolCalls: calls("mcp_probe_hang", map[string]any{})})
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
	require.Eventually(t, func() bool { return probe.Received(t, "tools/call") }, patience, tick)
	carry(t, ed, "xcsh.abort", nil)
	raw, failure := prompt.Wait()
	require.Nil(t, failure)
	require.Contains(t, string(raw), `"stopReason":"aborted"`)
	require.Eventually(t, func() bool { return probe.Received(t, "notifications/cancelled") }, patience, tick)
	ed.Shutdown()
	ed.Exit()
	mcptest.Gone(t, probe.Starts(t)...)
}

// Tools beyond the limits are found by a search. A session of xcsh records the ones found, and has them when it is resumed.
func TestServersWithManyTools(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.withServer(".xcsh", "probe", mcptest.ToolsName+"=100")
	m.Script("m",
		providertest.Reply{ToolCalls: calls("search_tools", map[string]any{"query": "kind 77", "limit": 1})},
		providertest.Reply{Text: "Done."})
	code, _, stderr := m.run("run", "--model", "fake/m", "--approval", "yolo", "go")
	require.Zero(t, code, stderr)
	requests := m.Requests()
	require.Len(t, requests, 2)
	require.Less(t, len(toolNames(requests[0])), 41)
	require.True(t, declares(requests[0], "search_tools"))
	file := m.read(m.sessionFile())
	require.Equal(t, 1, strings.Count(file, `"type":"mcp_tool_selection"`), file)
	var selected []string
	for line := range strings.Lines(file) {
		if kind, _ := rawjson.GetString([]byte(line), "type"); kind == "mcp_tool_selection" {
			require.NoError(t, json.Unmarshal(rawjson.Get([]byte(line), "selectedToolNames"), &selected))
		}
	}
	require.Len(t, selected, 1)
	require.False(t, declares(requests[0], selected[0]))
	require.True(t, declares(requests[1], selected[0]))

	m.Script("m", providertest.Reply{Text: "Again."})
	code, _, stderr = m.run("run", "--continue", "--approval", "yolo", "again")
	require.Zero(t, code, stderr)
	require.True(t, declares(m.Requests()[2], selected[0]))
}

// The question of a server is asked to the user with its name, and the answer, the refusal and the closing are different answers.
func TestServersAskTheUser(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	m.withServer(".xcsh", "probe")
	ed := m.opened(lsptest.Fields{"approval": "yolo", "ui": lsptest.Fields{"hooks": true}})
	m.Script("m", providertest.Reply{ToolCalls: calls("mcp_probe_elicit", map[string]any{})}, providertest.Reply{Text: "Done."})
	prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
	q := ed.WaitRequest("xcsh/ask")
	require.Contains(t, string(q.Params), "The MCP server probe asks: Which colour?")
	require.Contains(t, string(q.Params), `"blue"`)
	q.Reply(lsptest.Fields{"answers": []any{lsptest.Fields{"id": "colour", "selected": []string{"blue"}}}})
	_, failure := prompt.Wait()
	require.Nil(t, failure)
	require.JSONEq(t, `{"action":"accept","content":{"colour":"blue"}}`, lastResult(t, m.Requests()[1]))
	ed.Shutdown()
	ed.Exit()
}

// A tool needs permission whatever its server says about it. In read-only mode and in plan mode, only a tool that says it only reads
// and that the user has allowed permanently is used. A rule ends with the program of the server that it was made for.
func TestServersNeedPermission(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.AnthropicMessages)
	probe := m.withServer(".xcsh", "probe")
	ed := m.opened(lsptest.Fields{"approval": "ask", "ui": lsptest.Fields{"hooks": true}})
	// uses returns the result of a call, and the decisions that answered prompts about it.
	uses := func(tool string, decisions ...string) string {
		t.Helper()
		before := len(m.Requests())
		m.Script("m", providertest.Reply{ToolCalls: calls("mcp_probe_"+tool, map[string]any{"text": "hi", "a": 1, "b": 2})}, providertest.Reply{Text: "Done."})
		prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
		for _, d := range decisions {
			q := ed.WaitRequest("xcsh/approve")
			require.Contains(t, string(q.Params), `"mcp":{"server":"probe","tool":"`+map[string]string{"echo": "echo", "add_numbers": "Add.Numbers-2", "picture": "picture"}[tool]+`","file":"`)
			require.Contains(t, string(q.Params), `of the MCP server probe (`)
			q.Reply(lsptest.Fields{"decision": d})
		}
		_, failure := prompt.Wait()
		require.Nil(t, failure)
		return lastResult(t, m.Requests()[before+1])
	}
	// reads returns the result of a call that reads a resource, whose prompt names it and its server.
	reads := func(decisions ...string) string {
		t.Helper()
		before := len(m.Requests())
		m.Script("m", providertest.Reply{ToolCalls: calls("read", map[string]any{"path": "mcp://probe://doc/1"})}, providertest.Reply{Text: "Done."})
		prompt := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
		for _, d := range decisions {
			q := ed.WaitRequest("xcsh/approve")
			require.Contains(t, string(q.Params), `"tool":"read_mcp_resource","args":{"server":"probe","uri":"probe://doc/1"}`)
			q.Reply(lsptest.Fields{"decision": d})
		}
		_, failure := prompt.Wait()
		require.Nil(t, failure)
		return lastResult(t, m.Requests()[before+1])
	}
	mode := func(name string) { carry(t, ed, "xcsh.setApproval", lsptest.Fields{"mode": name}) }

	require.Contains(t, uses("echo", "deny"), "denied")
	require.Equal(t, "echo: hi", uses("echo", "once"))
	require.Contains(t, reads("deny"), "denied")
	require.Equal(t, "contents of probe://doc/1", reads("once"))
	mode("auto-edit")
	require.Equal(t, "echo: hi", uses("echo", "once"))
	mode("read-only")
	require.Contains(t, uses("echo"), "read-only")
	require.Contains(t, reads(), "read-only")
	mode("ask")
	require.Contains(t, uses("add_numbers", "workspace"), "3")
	require.Contains(t, uses("add_numbers"), "3")
	mode("read-only")
	require.Contains(t, uses("add_numbers"), "read-only", "it doesn't say that it only reads")
	mode("ask")
	require.Equal(t, "echo: hi", uses("echo", "workspace-wider"))
	require.Equal(t, "echo: hi", uses("echo"))
	require.Contains(t, uses("picture", "deny"), "denied", "it doesn't say that it only reads")
	mode("read-only")
	require.Equal(t, "echo: hi", uses("echo"))
	mode("ask")
	carry(t, ed, "xcsh.setMode", lsptest.Fields{"mode": "plan"})
	require.Equal(t, "echo: hi", uses("echo"))
	require.True(t, declares(m.Requests()[len(m.Requests())-1], "mcp_probe_echo"))
	require.False(t, declares(m.Requests()[len(m.Requests())-1], "mcp_probe_add_numbers"))
	require.Contains(t, uses("add_numbers"), "Plan mode is on")
	require.Contains(t, reads(), "Plan mode is on")
	carry(t, ed, "xcsh.setMode", lsptest.Fields{"mode": "none"})

	// Another program with the same name has no rules.
	entry := probe.Entry()
	entry["args"] = []string{"another"}
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"probe": entry}})
	require.NoError(t, err)
	m.write(filepath.Join(m.agentDir(), "mcp.json"), string(raw))
	require.Contains(t, uses("echo", "deny"), "denied")
	require.Len(t, probe.Starts(t), 2)
	mcptest.Gone(t, probe.Starts(t)[0])
	ed.Shutdown()
	ed.Exit()
}
