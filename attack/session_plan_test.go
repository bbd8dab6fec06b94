package attack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

const (
	inPlan   = `{"type":"mode_change","id":"00000003","parentId":"00000002","timestamp":"2026-01-01T00:00:03.000Z","mode":"plan","data":{"planFilePath":"local://PLAN.md"}}`
	inPaused = `{"type":"mode_change","id":"00000004","parentId":"00000003","timestamp":"2026-01-01T00:00:04.000Z","mode":"plan_paused"}`
	noMode   = `{"type":"mode_change","id":"00000004","parentId":"00000003","timestamp":"2026-01-01T00:00:04.000Z","mode":"none"}`
)

// session writes a session of the project folder as another program would, with additional lines.
func (v *victim) session(lines ...string) (path string) {
	v.t.Helper()
	cwd, err := json.Marshal(v.work)
	require.NoError(v.t, err)
	all := append([]string{
		`{"type":"session","version":3,"id":"0190000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":` + string(cwd) + `}`,
		`{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"one"}],"timestamp":1}}`,
		`{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}],"provider":"fake","model":"m","stopReason":"stop","usage":{"input":1,"output":1,"totalTokens":2},"timestamp":2}}`,
	}, lines...)
	path = filepath.Join(v.agentDir(), "sessions", "x", "2026-01-01T00-00-00-000Z_0190000000000001.jsonl")
	v.write(path, strings.TrimSuffix(strings.Join(all, "\n"), "\n")+"\n")
	return path
}

// changes returns calls that would change files.
func changes(v *victim) [][]providertest.Call {
	return [][]providertest.Call{
		call("write", map[string]any{"path": "new.txt", "content": "x"}),
		call("write", map[string]any{"path": v.path("main.go"), "content": "x"}),
		call("edit", map[string]any{"path": "main.go", "edits": []any{map[string]any{"oldText": "package", "newText": "broken"}}}),
		bash("echo hi > y.txt"),
		bash("git status; touch y.txt"),
		bash("cat main.go > z.txt"),
		call("bash", map[string]any{"command": "cat main.go", "background": true}),
		call("write", map[string]any{"path": "local/PLAN.md", "content": "x"}),
		call("write", map[string]any{"path": "PLAN.md", "content": "x"}),
		call("write", map[string]any{"path": "local://other.md", "content": "x"}),
		call("write", map[string]any{"path": "local://../PLAN.md", "content": "x"}),
		call("write", map[string]any{"path": "LOCAL://PLAN.md", "content": "x"}),
	}
}

// A session in plan mode changes nothing except its plan, in every approval mode.
func TestPlanModeHolds(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"read-only", "ask", "auto-edit", "yolo"} {
		for _, flag := range []string{"--resume", "--continue", "--fork"} {
			t.Run(mode+flag, func(t *testing.T) {
				t.Parallel()
				v := newVictim(t)
				v.write(v.path("main.go"), "package main\n")
				path := v.session(inPlan)
				start := []string{flag, "--approval", mode}
				if flag != "--continue" {
					start = []string{flag, path, "--approval", mode}
				} else {
					v.listed(path)
				}
				before := v.tree()
				v.does(append(changes(v), call("read", map[string]any{"path": "main.go"}))...)
				v.ask(start...)
				results := v.results()
				require.Len(t, results, len(changes(v))+1)
				for i, r := range results[:len(results)-1] {
					require.Regexp(t, `Plan mode is on|Nothing was read or changed`, r, "call %d", i)
				}
				require.Contains(t, results[len(results)-1], "package main", "reading continues")
				require.Equal(t, before, v.tree())
				require.Equal(t, "package main\n", v.read(v.path("main.go")))
				require.Contains(t, string(v.Requests()[0].Body), "Plan mode is on", "the model knows the mode")
			})
		}
	}
}

// A command that only reads runs in plan mode, in the strict sandbox also if everything is allowed, but not in the mode
// read-only.
func TestPlanModeReadsWithCommands(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"read-only", "ask", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			v.needsSandbox()
			v.write(v.path("main.go"), "package main\n")
			v.does(bash("cat main.go"), bash("cat "+filepath.Join(v.home, ".ssh/id_rsa")))
			v.ask("--resume", v.session(inPlan), "--approval", mode)
			results := v.results()
			require.Len(t, results, 2)
			if mode == "read-only" {
				require.Contains(t, results[0], "Plan mode is on")
			} else {
				require.Equal(t, "package main\n", results[0])
				require.Contains(t, string(v.Requests()[0].Body), "git log")
			}
			require.Empty(t, v.leaked())
		})
	}
}

// listed moves a session to the directory in which --continue looks for it.
func (v *victim) listed(path string) {
	v.t.Helper()
	name := "--" + strings.ReplaceAll(strings.TrimPrefix(v.work, "/"), "/", "-") + "--"
	to := filepath.Join(v.agentDir(), "sessions", name, filepath.Base(path))
	require.NoError(v.t, os.MkdirAll(filepath.Dir(to), 0o700))
	require.NoError(v.t, os.Rename(path, to))
}

// The plan file can be written, read and edited. It is stored beside the session.
func TestThePlanFileCanBeWritten(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"ask", "auto-edit", "yolo"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			path := v.session(inPlan)
			v.does(
				call("write", map[string]any{"path": "local://PLAN.md", "content": "# One\n"}),
				call("edit", map[string]any{"path": "local://PLAN.md", "edits": []any{map[string]any{"oldText": "One", "newText": "Two"}}}),
				call("read", map[string]any{"path": "local://PLAN.md"}),
			)
			before := v.tree()
			out := v.ask("--resume", path, "--approval", mode)
			require.Zero(t, out.code, out.stderr)
			require.Contains(t, v.results()[2], "# Two")
			require.Equal(t, "# Two\n", v.read(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "local", "PLAN.md")))
			require.Equal(t, before, v.tree())
		})
	}
}

// A session file from another user names a plan file that is a symbolic link, or the directory beside
// the session is one.
func TestAPlanFileThatIsALink(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	victim := filepath.Join(v.outside, "file")
	named := strings.Replace(inPlan, "local://PLAN.md", "plan.md", 1)
	require.NoError(t, os.Symlink(victim, v.path("plan.md")))
	path := v.session(named)
	v.does(call("write", map[string]any{"path": "plan.md", "content": "x"}))
	v.ask("--resume", path, "--approval", "yolo")
	require.Contains(t, v.results()[0], "Plan mode is on")

	local := v.session(inPlan)
	dir := strings.TrimSuffix(local, ".jsonl")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.Symlink(v.outside, filepath.Join(dir, "local")))
	v.does(call("write", map[string]any{"path": "local://PLAN.md", "content": "x"}))
	v.ask("--resume", local, "--approval", "yolo")
	require.Equal(t, "outside\n", v.read(victim))
	require.NoFileExists(t, filepath.Join(v.outside, "PLAN.md"))
}

// Plan mode that is paused or ended restricts nothing.
func TestPlanModeThatIsOver(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"paused": inPaused, "none": noMode} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			path := v.session(inPlan, line)
			v.does(call("write", map[string]any{"path": "new.txt", "content": "x"}))
			v.ask("--resume", path, "--approval", "yolo")
			require.Equal(t, "x", v.read(v.path("new.txt")))
		})
	}
}

// Only the user can end plan mode. It survives a switch to another session and back, a fork and a
// compaction, and clients can see it.
func TestTheUserEndsPlanMode(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	path := v.session(inPlan)
	write := providertest.Reply{ToolCalls: call("write", map[string]any{"path": "new.txt", "content": "x"})}
	done := providertest.Reply{Text: "Done."}
	v.Script("m", write, done, write, done, done, done, write, done, write, done)
	ed := v.edit(lsptest.Fields{"approval": "yolo"})
	held := func(when string) {
		t.Helper()
		v.exec(ed, "xcsh.prompt", lsptest.Fields{"text": "go"})
		results := v.results()
		require.Contains(t, results[len(results)-1], "Plan mode is on", when)
		require.NoFileExists(t, v.path("new.txt"), when)
		require.Contains(t, string(v.exec(ed, "xcsh.state", nil)), `"mode":"plan"`, when)
		require.Contains(t, string(v.exec(ed, "xcsh.snapshot", nil)), `"mode":"plan"`, when)
	}
	v.exec(ed, "xcsh.resume", lsptest.Fields{"target": path})
	held("resumed")
	v.exec(ed, "xcsh.new", nil)
	v.exec(ed, "xcsh.resume", lsptest.Fields{"target": path})
	v.exec(ed, "xcsh.fork", nil)
	held("forked")
	v.exec(ed, "xcsh.prompt", lsptest.Fields{"text": strings.Repeat("word ", 40_000)})
	v.exec(ed, "xcsh.compact", nil)
	held("compacted")
	require.JSONEq(t, `{"mode":"none","changed":true}`, string(v.exec(ed, "xcsh.setMode", lsptest.Fields{"mode": "none"})))
	require.JSONEq(t, `{"mode":"none","changed":false}`, string(v.exec(ed, "xcsh.setMode", lsptest.Fields{"mode": "none"})))
	v.exec(ed, "xcsh.prompt", lsptest.Fields{"text": "go"})
	require.Equal(t, "x", v.read(v.path("new.txt")))
	require.NotContains(t, string(v.Requests()[len(v.Requests())-1].Body), "Plan mode is on. Explore")
}

// oh-my-pi's ACP agent leaves plan mode in a session without recording the mode.
func TestPlanModeOfAnOmpClient(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	path := v.session()
	content := strings.Split(v.read(path), "\n")
	lines := []string{
		`{"type":"title","v":1,"title":"","updatedAt":"2026-01-01T00:00:00.000Z","pad":"` + strings.Repeat(" ", 184) + `"}`, content[0],
		`{"type":"model_change","id":"00000009","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","model":"fake/m","resolvedModelIsFallback":false}`,
		`{"type":"custom_message","customType":"plan-mode-context","content":"Plan mode active.","display":false,"attribution":"agent","id":"00000008","parentId":"00000009","timestamp":"2026-01-01T00:00:00.000Z"}`,
		strings.Replace(content[1], `"parentId":null`, `"parentId":"00000008"`, 1), content[2],
	}
	v.write(path, strings.Join(lines, "\n")+"\n")
	write := call("write", map[string]any{"path": "new.txt", "content": "x"})
	plan := call("write", map[string]any{"path": "local://my-plan.md", "content": "# Plan\n"})
	v.does(write, plan)
	v.ask("--resume", path, "--approval", "yolo")
	v.does(write)
	v.ask("--resume", path, "--approval", "yolo")
	for _, m := range v.Requests()[len(v.Requests())-1].Messages {
		if m.Role == provider.RoleToolResult && m.ToolName == "write" {
			t.Log(m.PlainText())
		}
	}
	require.NoFileExists(t, v.path("new.txt"))
	require.Equal(t, "# Plan\n", v.read(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "local", "my-plan.md")))
}

// A model that proposes a plan does not leave plan mode where no one can approve it: in a shell, and in
// an editor whose user closes the question or whose client cannot show one.
func TestNoOneApprovesAPlan(t *testing.T) {
	t.Parallel()
	calls := [][]providertest.Call{
		call("write", map[string]any{"path": "local://PLAN.md", "content": "# Plan\n"}),
		call("exit_plan_mode", map[string]any{"title": "P"}),
		call("write", map[string]any{"path": "new.txt", "content": "x"}),
		bash("echo hi > y.txt"),
	}
	for _, mode := range []string{"read-only", "ask", "auto-edit", "yolo"} {
		t.Run("run "+mode, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			path := v.session(inPlan)
			if mode == "read-only" { // the user wrote the plan
				v.write(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "local", "PLAN.md"), "# Plan\n")
			}
			before := v.tree()
			v.does(calls...)
			out := v.ask("--resume", path, "--approval", mode)
			require.Contains(t, out.stderr, "Plan mode is still on because no one can approve the plan.")
			require.Contains(t, v.results()[1], "The user did not approve the plan, so plan mode is still on.")
			require.Contains(t, v.results()[2], "Plan mode is on")
			require.Contains(t, v.results()[3], "Plan mode is on")
			require.Equal(t, before, v.tree())
			require.NotContains(t, v.read(path), `"mode":"none"`)
		})
	}
	for name, answer := range map[string]func(lsptest.Request){
		"closed":         func(r lsptest.Request) { r.Reply(nil) },
		"denied":         func(r lsptest.Request) { r.Reply(lsptest.Fields{"title": "Deny"}) },
		"another title":  func(r lsptest.Request) { r.Reply(lsptest.Fields{"title": "allow"}) },
		"no such method": func(r lsptest.Request) { r.Fail(-32601, "unknown") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVictim(t)
			path := v.session(inPlan)
			v.does(calls...)
			ed := v.edit(lsptest.Fields{"approval": "yolo"})
			v.exec(ed, "xcsh.resume", lsptest.Fields{"target": path})
			turn := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"})
			asked := ed.WaitRequest("window/showMessageRequest")
			require.Contains(t, string(asked.Params), `# Plan`)
			answer(asked)
			if name == "no such method" { // the question stays pending until the user answers it elsewhere
				v.exec(ed, "xcsh.abort", nil)
			}
			_, _ = turn.Wait() // the outcome differs
			require.NoFileExists(t, v.path("new.txt"))
			require.Contains(t, string(v.exec(ed, "xcsh.state", nil)), `"mode":"plan"`)
			require.NotContains(t, v.read(path), `"mode":"none"`)
		})
	}
}

// A session that was started in plan mode stays in it, in the format of every service.
func TestPlanModeInEveryFormat(t *testing.T) {
	t.Parallel()
	for _, api := range []provider.API{provider.AnthropicMessages, provider.OpenAICompletions, provider.OpenAIResponses} {
		for _, flag := range []string{"--resume", "--continue", "--fork"} {
			t.Run(string(api)+flag, func(t *testing.T) {
				t.Parallel()
				v := newVictim(t)
				models := v.read(filepath.Join(v.agentDir(), "models.json"))
				models = strings.Replace(models, v.URL(provider.AnthropicMessages), v.URL(api), 1)
				v.write(filepath.Join(v.agentDir(), "models.json"), strings.Replace(models, string(provider.AnthropicMessages), string(api), 1))
				path := v.session(inPlan)
				start := []string{flag, "--approval", "yolo"}
				if flag != "--continue" {
					start = []string{flag, path, "--approval", "yolo"}
				} else {
					v.listed(path)
				}
				before := v.tree()
				v.does(changes(v)...)
				v.ask(start...)
				require.Equal(t, before, v.tree())
				for _, r := range v.Requests() {
					require.Equal(t, api, r.API)
					require.Contains(t, r.System, "Plan mode is on.")
					var names []string
					for _, tool := range r.Tools {
						if tool.Name != "bash" { // it needs the machine's sandbox
							names = append(names, tool.Name)
						}
					}
					require.Equal(t, []string{"read", "edit", "write", "grep", "find", "ls", "process", "todo_write", "task", "exit_plan_mode"}, names)
				}
			})
		}
	}
}
