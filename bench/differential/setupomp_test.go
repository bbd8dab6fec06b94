//go:build peers && unix

package differential

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/mcptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// write writes a file of the user. The path is relative to the directory that holds "home" and "work".
func (u *user) write(path, content string) {
	u.t.Helper()
	path = filepath.Join(filepath.Dir(u.home), path)
	require.NoError(u.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(u.t, os.WriteFile(path, []byte(content), 0o600))
}

const pdfSkill = "---\nname: pdf-tools\ndescription: Extract text from PDF files.\n---\n# PDF tools\nRead references/formats.md first.\n"

// withOmp is a user of omp with an MCP server and a skill, whose folder brings another skill and instructions.
func withOmp(t *testing.T) *user {
	t.Helper()
	u := newUserWithoutPrograms(t)
	probe := mcptest.Start(t, "ok")
	servers, err := json.Marshal(object{"mcpServers": object{"Probe-One.x": probe.Entry()}})
	require.NoError(t, err)
	u.write("home/.omp/agent/config.yml", "tools:\n  approvalMode: yolo\ntodo:\n  reminders: false\n")
	u.write("home/.omp/agent/mcp.json", string(servers))
	u.write("home/.omp/agent/skills/tides/SKILL.md", "---\nname: tides\ndescription: Tell the time of high water.\n---\nAsk for the harbour.\n")
	u.write("work/.omp/skills/pdf-tools/SKILL.md", pdfSkill)
	u.write("work/AGENTS.md", "Keep to the style of the house.\n")
	u.models(filepath.Join(u.home, ".xcsh", "agent"), u.service.URL(provider.AnthropicMessages))
	return u
}

// omp starts omp and waits until it has the tools of the server.
func (u *user) omp(file string) *process {
	u.t.Helper()
	p := startProgram(u.t, ompProgram, u.service, u.home, u.work, file)
	require.Eventually(u.t, func() bool {
		return strings.Contains(string(p.call("get_state", nil)), "xd://mcp__probe_one_x_twice")
	}, time.Minute, 20*time.Millisecond)
	return p
}

// plan returns the todo list of a running omp.
func (c *process) plan() string {
	c.t.Helper()
	var state struct{ TodoPhases json.RawMessage }
	require.NoError(c.t, json.Unmarshal(c.call("get_state", nil), &state))
	return string(state.TodoPhases)
}

// plan returns the todo list that the server shows.
func (u *user) plan(ed *lsptest.Editor) string {
	u.t.Helper()
	var snapshot struct{ Todos json.RawMessage }
	require.NoError(u.t, json.Unmarshal(u.do(ed, "xcsh.snapshot", lsptest.Fields{}), &snapshot))
	return string(snapshot.Todos)
}

// command runs a command of the program, and waits until its record is in the file.
func (c *process) command(text, record string) {
	c.t.Helper()
	c.call("prompt", object{"message": text})
	require.Eventually(c.t, func() bool {
		content, err := os.ReadFile(c.file)
		return err == nil && strings.Contains(string(content), record) && strings.HasSuffix(string(content), "\n")
	}, time.Minute, 20*time.Millisecond)
}

// do runs a command of the server and returns its result.
func (u *user) do(ed *lsptest.Editor, command string, args lsptest.Fields) json.RawMessage {
	u.t.Helper()
	raw, failure := ed.Exec(command, args)
	require.Nil(u.t, failure, "%s: %v", command, failure)
	return raw
}

// firsts returns the first groups of a pattern in a text, sorted and once each.
func firsts(pattern, text string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// results returns the texts of the last four tool results of a request: that of the todo list, and the others, sorted, because omp runs
// some calls before earlier ones. A read of omp leaves out the line end at the end.
func results(t *testing.T, r providertest.Request) (plan string, others []string) {
	t.Helper()
	for _, m := range r.Messages {
		if m.Role == provider.RoleToolResult {
			others = append(others, strings.TrimSuffix(m.PlainText(), "\n"))
		}
	}
	require.GreaterOrEqual(t, len(others), 4)
	others = others[len(others)-4:]
	i := slices.IndexFunc(others, func(text string) bool { return strings.Contains(text, "Active phase") })
	require.GreaterOrEqual(t, i, 0)
	plan = others[i]
	others = slices.Delete(others, i, i+1)
	slices.Sort(others)
	return plan, others
}

// parameters returns the names of the parameters of a tool in a request, without omp's "i", which every tool has.
func parameters(t *testing.T, r providertest.Request, name string) (names []string) {
	t.Helper()
	i := slices.IndexFunc(r.Tools, func(t provider.Tool) bool { return strings.TrimPrefix(t.Name, "_") == name }) // omp's names begin with "_" in this format
	require.GreaterOrEqual(t, i, 0, "the tool %s is not offered", name)
	var schema struct{ Properties map[string]json.RawMessage }
	require.NoError(t, json.Unmarshal(r.Tools[i].Parameters, &schema))
	for name := range schema.Properties {
		if name != "i" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// requireSameAbilities compares what omp and we offer the model in the same session.
func requireSameAbilities(t *testing.T, theirs, ours providertest.Request) {
	t.Helper()
	for _, name := range []string{"todo", "task", "write"} {
		require.Equal(t, parameters(t, theirs, name), parameters(t, ours, name), name)
	}
	for _, name := range []string{"read", "bash", "edit", "grep", "ask"} {
		parameters(t, theirs, name)
		parameters(t, ours, name)
	}
	devices := firsts("`xd://(mcp__[a-z0-9_]+)`", theirs.System)
	require.Len(t, devices, 25)
	var declared []string
	for _, tool := range ours.Tools {
		if strings.HasPrefix(tool.Name, "mcp__") {
			declared = append(declared, tool.Name)
		}
	}
	slices.Sort(declared)
	require.Equal(t, devices, declared, "what omp shows as a device is a tool of the same name")

	require.Equal(t, []string{"pdf-tools", "tides"}, firsts(`(?m)^- (pdf-tools|tides): `, theirs.System))
	require.Equal(t, []string{"pdf-tools", "tides"}, firsts(`<name>(.*)</name>`, ours.System))
	const described = `(Extract text from PDF files\.|Tell the time of high water\.)`
	require.Len(t, firsts(described, ours.System), 2)
	require.Equal(t, firsts(described, theirs.System), firsts(described, ours.System))
	const instructions = `(?s)(<file path="[^"]*/work/AGENTS.md">\s*Keep to the style of the house\.\s*</file>)`
	require.Len(t, firsts(instructions, ours.System), 1)
	require.Equal(t, firsts(instructions, theirs.System), firsts(instructions, ours.System))
}

// A conversation that omp began with an MCP server, a skill and a todo list goes on in an editor with the same abilities, and omp
// continues it with what was done there.
func TestAConversationOfOmpKeepsItsAbilities(t *testing.T) {
	t.Parallel()
	u := withOmp(t)
	abilities := []providertest.Call{
		{Name: "write", Args: object{"path": "xd://mcp__probe_one_x_echo", "content": `{"text":"hi"}`}},
		{Name: "mcp__probe_one_x_add_numbers_2", Args: object{"a": 1, "b": 2}},
		{Name: "read", Args: object{"path": "skill://pdf-tools"}},
	}
	use := func(todo object) providertest.Reply {
		return providertest.Reply{ToolCalls: append(slices.Clone(abilities), providertest.Call{Name: "todo", Args: todo})}
	}
	u.service.Script("theirs",
		use(object{"op": "init", "list": []any{object{"phase": "Setup", "items": []string{"read it", "do it", "tell it"}}}}), providertest.Reply{Text: "Begun."},
		use(object{"op": "done", "task": "read it"}), providertest.Reply{Text: "Gone on."},
		use(object{"op": "done", "task": "do it"}), providertest.Reply{Text: "Back."})

	p := u.omp("")
	p.prompt("begin", "Begun.")
	p.command("/todo append Setup Sweep it", "user_todo_edit")
	begun, file := p.plan(), p.file
	p.stop()
	require.Contains(t, begun, "Sweep it", "the user changed the plan")
	before, err := os.ReadFile(file)
	require.NoError(t, err)

	ed := u.editorWith(lsptest.Fields{"engine": "own", "model": "fake/theirs"})
	u.do(ed, "xcsh.trust", lsptest.Fields{"decision": "all"})
	u.do(ed, "xcsh.resume", lsptest.Fields{"target": file})
	require.JSONEq(t, begun, u.plan(ed))
	require.Contains(t, string(u.do(ed, "xcsh.prompt", lsptest.Fields{"text": "go on"})), "Gone on.")
	goneOn := u.plan(ed)
	require.Contains(t, goneOn, "completed")
	ed.Shutdown()
	after, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(body(after)), string(body(before))), "no byte of omp's has changed")
	added := string(body(after)[len(body(before)):])
	require.Contains(t, added, `"toolName":"write","details":{"serverName":"Probe-One.x","mcpToolName":"echo","rawContent":[{"type":"text","text":"echo: hi"}],"provider":"native","providerName":"OMP"}`)
	require.Contains(t, added, `"details":{"op":"done","phases":`+goneOn)

	p = u.omp(file)
	require.JSONEq(t, goneOn, p.plan())
	p.prompt("and back", "Back.")
	p.stop()

	requests := u.service.Requests()
	require.Len(t, requests, 6)
	requireSameAbilities(t, requests[0], requests[2])
	_, theirs := results(t, requests[1])
	plan, ours := results(t, requests[3])
	require.Equal(t, []string{strings.TrimSuffix(pdfSkill, "\n"), "echo: hi", `{"sum":3}`}, theirs)
	require.Equal(t, theirs, ours, "the same calls have the same results")
	planBack, back := results(t, requests[4])
	require.Equal(t, ours, back)
	require.Equal(t, plan, planBack, "omp goes on with our results")
	require.Contains(t, plan, "- [X] read it\n    - [ ] do it (in progress)\n    - [ ] tell it")
	plan, _ = results(t, requests[5])
	require.Contains(t, plan, "- [X] read it\n    - [X] do it\n    - [ ] tell it (in progress)\n    - [ ] Sweep it")
	entries, err := os.ReadDir(u.work)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{".omp", "AGENTS.md", "notes.txt"}, names, "no address became a file")
}

// recordsOf returns the entries of a session file that are messages of a type, without what differs from one to the next.
func recordsOf(t *testing.T, file, customType string) (all []object) {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	for line := range strings.Lines(string(content)) {
		var e object
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		if e["customType"] != customType {
			continue
		}
		for _, name := range []string{"id", "parentId", "timestamp"} {
			delete(e, name)
		}
		all = append(all, e)
	}
	return all
}

// What a prompt that names a skill or a command stands for is the same with omp and with us, in the same session.
func TestPromptsOfOmpStandForTheSameText(t *testing.T) {
	t.Parallel()
	u := withOmp(t)
	require.NoError(t, os.Remove(filepath.Join(u.home, ".omp", "agent", "mcp.json")))
	u.write("home/.omp/agent/commands/check.md", "---\ndescription: Check\n---\n1=$1 2=$2 9=$9 all=$@ named=$ARGUMENTS slice=$@[2] slice2=$@[1:2] pi=${@:2} again=$1$2\n")
	u.write("home/.omp/agent/commands/plain.md", "\nLook around.\n\n  Then tell.\n\n")
	u.write("work/.omp/commands/both.md", "---\ndescription: Both\n---\nThe project's.\n")
	u.write("home/.omp/agent/commands/both.md", "The user's.\n")
	prompts := []string{
		"/skill:pdf-tools extract a.pdf", "/skill:tides", "/check alpha \"be ta\" gamma", "/check", "/check it's \"un closed", "/check $2 b", "/check 'a\\' b\"c d\"e",
		"/plain", "/plain with \"some words\"", "/both",
	}
	u.service.Script("theirs", providertest.Reply{Text: "Done."})
	p := startProgram(t, ompProgram, u.service, u.home, u.work, "")
	for _, text := range prompts {
		p.prompt(text, "Done.")
	}
	p.stop()
	ed := u.editorWith(lsptest.Fields{"engine": "own", "model": "fake/theirs"})
	u.do(ed, "xcsh.trust", lsptest.Fields{"decision": "all"})
	u.do(ed, "xcsh.resume", lsptest.Fields{"target": p.file})
	for _, text := range prompts {
		require.Contains(t, string(u.do(ed, "xcsh.prompt", lsptest.Fields{"text": text})), "Done.")
	}
	ed.Shutdown()
	requests := u.service.Requests()
	require.Len(t, requests, 2*len(prompts))
	for i, text := range prompts {
		theirs := requests[i].LastText()
		if rest, found := strings.CutPrefix(theirs, "<system-reminder>\nToday: "); found { // in the first message; ours is in the system prompt
			_, theirs, _ = strings.Cut(rest, "</system-reminder>\n")
		}
		require.NotEqual(t, text, theirs, "omp expands it")
		require.Equal(t, theirs, requests[len(prompts)+i].LastText(), text)
	}
	skills := recordsOf(t, p.file, "skill-prompt")
	require.Len(t, skills, 4)
	require.Equal(t, skills[:2], skills[2:], "the records are the same, too")
}
