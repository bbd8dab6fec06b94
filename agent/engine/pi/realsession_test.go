//go:build peers && unix

package pi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// begin starts a run and returns how to stop it, and its outcome.
func (w *world) begin(e *Engine, prompt string) (cancel context.CancelFunc, done <-chan loop.Outcome) {
	ctx, cancel := context.WithTimeout(w.t.Context(), testLimit)
	w.t.Cleanup(cancel)
	ch := make(chan loop.Outcome, 1)
	go func() { ch <- e.Run(ctx, engine.Input{Text: prompt}) }()
	return cancel, ch
}

// entry returns the id of the first entry whose JSON contains a text.
func (w *world) entry(file, text string) string {
	w.t.Helper()
	for _, entry := range w.lines(file) {
		raw, err := json.Marshal(entry)
		require.NoError(w.t, err)
		if strings.Contains(string(raw), text) {
			id, _ := entry["id"].(string)
			return id
		}
	}
	require.Fail(w.t, "no entry", text)
	return ""
}

func TestRealPiIsAbortedWhileItAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.Script("m", providertest.Reply{ToolCalls: call("bash", object{"command": "touch made"})}, providertest.Reply{Text: "again"})
	h := newHost(t)
	h.permit = func(ctx context.Context, _ engine.Call) error {
		<-ctx.Done()
		return ctx.Err()
	}
	e, opened := w.open(h)
	cancel, done := w.begin(e, "go")
	h.wait("permit bash")
	cancel()
	out := <-done
	require.Equal(t, "aborted", out.StopReason)
	require.NoError(t, out.Err)
	require.NoFileExists(t, filepath.Join(w.cwd, "made"))
	require.Eventually(t, func() bool { // on a busy machine, the state of pi ends the run before pi records it
		content, err := os.ReadFile(opened.File)
		return err == nil && strings.Contains(string(content), `"stopReason":"aborted"`)
	}, testLimit, time.Millisecond)
	require.Equal(t, "again", w.run(e, "more").text(), "pi is as good as before")
}

func TestRealPiTakesMessagesInARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	w.service.Script("m", providertest.Reply{Text: "first answer", Hold: hold}, providertest.Reply{Text: "second"}, providertest.Reply{Text: "third"})
	h := newHost(t)
	e, _ := w.open(h)
	require.True(t, fault.Is(e.Queue(t.Context(), loop.Steering, engine.Input{Text: "x"}), fault.Stale))
	_, done := w.begin(e, "go")
	h.wait("text_delta")
	require.NoError(t, e.Queue(t.Context(), loop.Steering, engine.Input{Text: "steer"}))
	require.NoError(t, e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "follow"}))
	h.wait("queued steer follow")
	close(hold)
	out := <-done
	require.NoError(t, out.Err)
	require.Equal(t, "third", outcome(out).text())
	require.Equal(t, []string{"user", "assistant", "user", "assistant", "user", "assistant"}, h.roles())
	require.Equal(t, 60, out.Usage.Output)

	hold = make(chan struct{})
	defer close(hold)
	w.service.Script("m", providertest.Reply{Text: "long answer", Hold: hold})
	h2 := len(h.all())
	cancel, done := w.begin(e, "more")
	for !has(h.all()[h2:], "text_delta") {
		h.wait("message", "more")
	}
	require.NoError(t, e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "left"}))
	cancel()
	out = <-done
	require.Equal(t, "aborted", out.StopReason)
	require.Len(t, out.Unanswered, 1)
	require.Equal(t, "left", out.Unanswered[0].PlainText())
}

func TestRealPiMovesLabelsAndIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.Script("m", providertest.Reply{Text: "one"}, providertest.Reply{Text: "two"}, providertest.Reply{Text: "three"})
	h := newHost(t)
	e, opened := w.open(h)
	w.run(e, "first")
	w.run(e, "second prompt")
	first, second := w.entry(opened.File, `"text":"one"`), w.entry(opened.File, "second prompt")
	moved, err := e.Move(t.Context(), second, engine.Summary{})
	require.NoError(t, err)
	require.Equal(t, engine.Moved{LeafID: first, Text: "second prompt"}, moved)
	require.True(t, has(h.all(), "leaf "+first))
	require.NoError(t, e.Annotate(t.Context(), engine.Annotation{EntryID: first, Label: "mark"}))
	require.NotEmpty(t, w.entry(opened.File, `"label":"mark"`))
	require.NoError(t, e.Annotate(t.Context(), engine.Annotation{Title: "My title"}))
	require.NotEmpty(t, w.entry(opened.File, `"name":"My title"`))
	h.wait("session_info_changed", "My title")
	w.run(e, "third")
	lines := w.lines(opened.File)
	require.Equal(t, "three", w.run(e, "fourth").text())
	require.NotEmpty(t, lines)

	moved, err = e.Move(t.Context(), first, engine.Summary{Write: true, Instructions: "short"})
	require.NoError(t, err)
	require.NotEqual(t, first, moved.LeafID, "the summary is the leaf")
	require.NotEmpty(t, w.entry(opened.File, `"branch_summary"`))
	_, err = e.Move(t.Context(), "nothing", engine.Summary{})
	require.ErrorContains(t, err, "not found")
}

func TestRealPiContinuesASessionAndReadsWhatOthersAppend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.Script("m", providertest.Reply{Text: "one"})
	h := newHost(t)
	e, opened := w.open(h)
	require.NoError(t, e.Reread(t.Context()), "there is no file yet")
	w.run(e, "first")
	require.NoError(t, e.Close(t.Context()))

	w.place.File = opened.File
	h = newHost(t)
	e, again := w.open(h)
	require.Equal(t, opened.File, again.File)
	require.Equal(t, w.entry(opened.File, `"text":"one"`), again.LeafID)
	f, err := os.OpenFile(opened.File, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(`{"type":"message","id":"feedbeef","parentId":"` + again.LeafID + `","timestamp":"2026-11-22T09:59:06.143Z","message":{"role":"user","content":"from elsewhere","timestamp":1}}` + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.NoError(t, e.Reread(t.Context()))
	h.wait("leaf feedbeef")
	require.False(t, has(h.all(), "left"))
	require.NoError(t, w.run(e, "go").Err)
	requests := w.service.Requests()
	require.Contains(t, string(requests[len(requests)-1].Body), "from elsewhere")
}

func TestRealPiReloadsAndSwitchesItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.extension(`pi.registerCommand("elsewhere", { description: "d", handler: async (_a: any, ctx: any) => { await ctx.newSession(); } });`)
	w.service.Script("m", providertest.Reply{ToolCalls: call("bash", object{"command": "true"})}, providertest.Reply{Text: "ok"})
	h := newHost(t)
	e, opened := w.open(h)
	require.NoError(t, e.Reload(t.Context()))
	require.Equal(t, "ok", w.run(e, "go").text())
	require.True(t, has(h.all(), "permit bash"), "the gate is there after a reload")
	commands, err := e.Commands(t.Context())
	require.NoError(t, err)
	names := map[string]bool{}
	for _, c := range commands {
		names[c.Name] = true
	}
	require.True(t, names["elsewhere"])
	require.False(t, names["xcsh-ls-label"])

	require.NoError(t, w.run(e, "/elsewhere").Err)
	h.wait("left " + w.dir)
	require.False(t, has(h.all(), "left "+opened.File))
	require.False(t, has(h.all(), "extension_error"))
}

func TestRealPiWithToolsOfMCPServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := w.file("server.mjs", `import readline from "node:readline";
const send = (o) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...o }) + "\n");
readline.createInterface({ input: process.stdin }).on("line", (l) => {
  const m = JSON.parse(l);
  if (m.id === undefined) return;
  const results = {
    initialize: { protocolVersion: m.params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "t", version: "1" } },
    "tools/list": { tools: [{ name: "poke", description: "Pokes", inputSchema: { type: "object", properties: { x: { type: "string" } } } }] },
    "tools/call": { content: [{ type: "text", text: "poked " + m.params?.arguments?.x }] },
  };
  send(results[m.method] ? { id: m.id, result: results[m.method] } : { id: m.id, error: { code: -32601, message: "no" } });
});
`)
	w.json(filepath.Join(w.home, ".pi", "agent", "mcp.json"), object{"mcpServers": object{"t": object{"command": w.program.Path, "args": []string{server}, "exposure": "direct"}}})
	w.service.Script("m", providertest.Reply{Text: "hello"}, providertest.Reply{ToolCalls: call("mcp__t__poke", object{"x": "1"})}, providertest.Reply{Text: "poked"})
	h := newHost(t)
	e, _ := w.open(h)
	require.NoError(t, w.run(e, "hi").Err) // pi connects to servers beside its first turn
	require.NoError(t, w.run(e, "poke").Err)
	require.True(t, has(h.all(), "permit mcp__t__poke"), "%q", h.all())
	require.True(t, has(h.all(), `"role":"toolResult"`, "poked 1"), "%q", h.all())
}

func TestRealPiWithScriptsOfTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.program.Args = append(w.program.Args, "--tools", "+codemode")
	script := "const r = await tools.read({path: 'a.txt'}); let b; try { b = await tools.bash({command: 'touch made'}); } catch (e) { b = String(e); } return JSON.stringify([r, b]);"
	w.file("a.txt", "content")
	w.service.Script("m", providertest.Reply{ToolCalls: call("codemode", object{"code": script})}, providertest.Reply{Text: "scripted"})
	h := newHost(t)
	h.permit = func(_ context.Context, c engine.Call) error {
		if c.Tool == "bash" {
			return errors.New("no commands")
		}
		return nil
	}
	e, _ := w.open(h)
	require.Equal(t, "scripted", w.run(e, "go").text())
	if has(h.all(), `"role":"toolResult"`, "Cannot find") {
		t.Skip("this installation of pi cannot run scripts")
	}
	require.True(t, has(h.all(), "tool_execution_start", `"toolName":"bash"`, `"parentToolCallId":"`), "%q", h.all())
	require.True(t, has(h.all(), `"role":"toolResult"`, "no commands"))
	require.NoFileExists(t, filepath.Join(w.cwd, "made"))
}

func TestRealPiKeepsItsOwnTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.extension(`pi.registerTool({ name: "grep", label: "grep", description: "d", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [{ type: "text", text: "theirs" }] }) });`)
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	require.NoError(t, err)
	w.file("a.png", string(png))
	w.program.Args = append(w.program.Args, "--tools", "read,bash,grep")
	w.service.Script(
		"m", providertest.Reply{ToolCalls: call("read", object{"path": "a.png"})},
		providertest.Reply{ToolCalls: call("grep", object{})}, providertest.Reply{Text: "ok"},
	)
	h := newHost(t)
	e, _ := w.open(h)
	require.False(t, e.Can().Files, "edit and write are switched off")
	require.Equal(t, "ok", w.run(e, "go").text())
	require.True(t, has(h.all(), `"role":"toolResult"`, "Read image file [image/png]"), "an image is read as pi reads it: %q", h.all())
	require.True(t, has(h.all(), "permit grep"), "a tool of an extension asks, whatever its name")
	require.Equal(t, engine.Reads, h.calls[0].Effect)
	require.Equal(t, engine.Runs, h.calls[1].Effect)
	tools := map[string]bool{}
	for _, tool := range w.service.Requests()[0].Tools {
		tools[tool.Name] = true
	}
	require.True(t, tools["read"])
	require.False(t, tools["edit"])
	require.False(t, tools["write"])
	require.False(t, tools["powershell"])
}

func TestRealPiAsksItsDialogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.extension(`
pi.registerCommand("ask", { description: "d", handler: async (_a: any, ctx: any) => {
  const a = [await ctx.ui.select("Pick", ["a", "b"]), await ctx.ui.confirm("Sure?", "really"), await ctx.ui.input("Name", "ph"), await ctx.ui.editor("Text", "pre")];
  ctx.ui.notify(JSON.stringify(a), "warning");
  ctx.ui.setStatus("s", "state"); ctx.ui.setWidget("w", ["one", "two"]); ctx.ui.setEditorText("next");
} });
pi.registerCommand("wait", { description: "d", handler: async (_a: any, ctx: any) => { ctx.ui.notify(String(await ctx.ui.input("For ever")), "info"); } });
pi.registerCommand("boom", { description: "d", handler: async () => { throw new Error("boom"); } });`)
	h := newHost(t)
	forever := false
	h.ask = func(ctx context.Context, q event.Question) engine.Answer {
		if q.Title == "For ever" {
			forever = true
			h.report("asked for ever")
			<-ctx.Done()
			return engine.Answer{Cancelled: true}
		}
		return engine.Answer{Value: map[string]string{"select": "b", "input": "typed", "editor": "edited"}[q.Method], Confirmed: true}
	}
	e, _ := w.open(h)
	require.NoError(t, w.run(e, "/ask").Err)
	require.True(t, has(h.all(), "notice", `[\"b\",true,\"typed\",\"edited\"]`), "%q", h.all())
	require.True(t, has(h.all(), "engine_status", "widget/w", `["one","two"]`))
	require.True(t, has(h.all(), "prefill", "next"))
	require.NoError(t, w.run(e, "/boom").Err)
	require.True(t, has(h.all(), "notice", "boom"))

	cancel, done := w.begin(e, "/wait")
	h.wait("asked for ever")
	cancel()
	require.Equal(t, "aborted", (<-done).StopReason)
	require.True(t, forever)
	h.wait("notice", "undefined")
}

func TestRealPiDoesNotStart(t *testing.T) {
	t.Parallel()
	t.Run("a dialog at the start", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.extension(`pi.on("session_start", async (_e: any, ctx: any) => { await ctx.ui.confirm("At start?", "x"); });`)
		require.ErrorContains(t, w.refuse(), "an extension asks “At start?” before pi can be answered.")
	})
	t.Run("an extension", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.program.Args = append(w.program.Args, "-e", w.file("broken.ts", "export default function ( {"))
		err := w.refuse()
		require.ErrorContains(t, err, "broken.ts could not be loaded into pi.")
	})
	t.Run("an unknown model", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.place.Model = "nope/none"
		require.ErrorContains(t, w.refuse(), `Model "nope/none" not found`)
	})
	t.Run("old Node.js", func(t *testing.T) {
		t.Parallel()
		node, err := exec.LookPath("node")
		if err != nil {
			t.Skip("no other Node.js")
		}
		version, err := exec.CommandContext(t.Context(), node, "--version").Output()
		require.NoError(t, err)
		if v := string(version); !strings.HasPrefix(v, "v18.") && !strings.HasPrefix(v, "v20.") {
			t.Skip("the other Node.js is not old")
		}
		w := newWorld(t)
		w.program.Path = node
		require.EqualError(t, w.refuse(), "pi needs Node.js 22 or newer.")
	})
	t.Run("no session", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.place.File = w.file(filepath.Join(w.dir, "s.jsonl"), "no session\n")
		require.ErrorContains(t, w.refuse(), "not a valid pi session")
	})
}

func TestRealPiWithoutALogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.json(filepath.Join(w.home, ".pi", "agent", "models.json"), object{"providers": object{}})
	h := newHost(t)
	e, opened := w.open(h)
	require.Equal(t, provider.Ref{}, opened.Model)
	require.NotEmpty(t, opened.Notices)
	models, err := e.Models(t.Context())
	require.NoError(t, err)
	require.Empty(t, models)
	out := w.run(e, "hi")
	var failure *fault.Error
	require.ErrorAs(t, out.Err, &failure)
	require.Equal(t, "login", failure.Data["class"], "%v", out.Err)
	require.Equal(t, "hi", out.Unanswered[0].PlainText())
}

func TestRealPiAndSettingsOfTheWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.file(".pi/settings.json", `{"sessionDir": "`+filepath.Join(w.cwd, "elsewhere")+`"}`)
	w.file(".pi/extensions/evil.ts", `import * as fs from "node:fs"; export default function () { fs.writeFileSync("evil", "x"); }`)
	_, opened := w.open(newHost(t))
	require.Equal(t, w.dir, filepath.Dir(opened.File))
	require.NoFileExists(t, filepath.Join(w.cwd, "evil"))
}

func TestRealPiIsKilled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	defer close(hold)
	w.service.Script("m", providertest.Reply{Text: "a long answer", Hold: hold})
	h := newHost(t)
	e, opened := w.open(h)
	_, done := w.begin(e, "in a stream")
	h.wait("text_delta")
	require.NoError(t, syscall.Kill(e.proc.(running).Pid(), syscall.SIGKILL))
	out := <-done
	require.ErrorContains(t, out.Err, "pi ended unexpectedly (signal: killed)")
	require.Equal(t, "error", out.StopReason)
	require.Empty(t, out.Unanswered)
	require.NotEmpty(t, w.entry(opened.File, "in a stream"))

	// The next pi goes on behind the prompt.
	w.service.Script("m", providertest.Reply{ToolCalls: call("bash", object{"command": "echo $$ > pid; exec sleep 1000"})}, providertest.Reply{Text: "on"})
	w.place.File = opened.File
	h = newHost(t)
	e, _ = w.open(h)
	_, done = w.begin(e, "in a command")
	h.wait("tool_execution_update")
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile(filepath.Join(w.cwd, "pid"))
		return err == nil && len(raw) > 1
	}, testLimit, pollEvery)
	require.NoError(t, syscall.Kill(e.proc.(running).Pid(), syscall.SIGKILL))
	require.Error(t, (<-done).Err)
	<-e.Done()
	raw, err := os.ReadFile(filepath.Join(w.cwd, "pid"))
	require.NoError(t, err)
	requireDead(t, strings.TrimSpace(string(raw)))

	h = newHost(t)
	e, _ = w.open(h)
	require.Equal(t, "on", w.run(e, "go on").text())
}

func TestRealPiIsClosedInARun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hold := make(chan struct{})
	defer close(hold)
	w.service.Script("m", providertest.Reply{Text: "a long answer", Hold: hold})
	h := newHost(t)
	e, opened := w.open(h)
	_, done := w.begin(e, "go")
	h.wait("text_delta")
	require.NoError(t, e.Close(t.Context()))
	require.Error(t, (<-done).Err)
	require.NoError(t, e.Err())
	require.NotEmpty(t, w.entry(opened.File, `"stopReason":"aborted"`))
}

func TestRealPiRunsCommandsOfTheUser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.Script("m", providertest.Reply{Text: "ok"})
	h := newHost(t)
	e, opened := w.open(h)
	w.run(e, "hi")
	last := ""
	raw, err := e.Bash(t.Context(), "echo one; echo two", true, func(text string) { last = text })
	require.NoError(t, err)
	require.Equal(t, "one\ntwo\n", last)
	require.Contains(t, string(raw), `"exitCode":0`)
	lines := w.lines(opened.File)
	recorded, err := json.Marshal(lines[len(lines)-1]["message"])
	require.NoError(t, err)
	require.JSONEq(t, string(recorded), string(raw))
	require.Equal(t, []string{"user", "assistant", "bashExecution"}, h.roles())

	hold := make(chan struct{})
	w.service.Script("m", providertest.Reply{Text: "a long answer", Hold: hold})
	_, done := w.begin(e, "again")
	h.wait(`"delta":"a long`)
	_, err = e.Bash(t.Context(), "echo in a run", false, nil)
	require.NoError(t, err)
	close(hold)
	require.NoError(t, (<-done).Err)
	require.Equal(t, []string{"user", "assistant", "bashExecution", "user", "assistant", "bashExecution"}, h.roles())
}

func TestRealPiCompactsAndChangesItsModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.Script("m", providertest.Reply{Text: strings.Repeat("word ", 200)})
	w.service.Script("plain", providertest.Reply{Text: "plain answer"})
	h := newHost(t)
	e, _ := w.open(h)
	_, err := e.Compact(t.Context(), "")
	require.True(t, fault.Is(err, fault.InvalidArgument), "%v", err)
	models, err := e.Models(t.Context())
	require.NoError(t, err)
	require.Len(t, models, 2)
	require.Empty(t, models[0].BaseURL)
	require.InDelta(t, 2, models[0].Cost.Output, 0)
	for range 3 {
		w.run(e, strings.Repeat("text ", 100))
	}
	c, err := e.Compact(t.Context(), "be brief")
	require.NoError(t, err)
	require.NotEmpty(t, c.Summary)
	require.Positive(t, c.TokensBefore)
	require.True(t, has(h.all(), "auto_compaction_end"))
	choice, err := e.SetThinking(t.Context(), "high")
	require.NoError(t, err)
	require.Equal(t, provider.High, choice.Thinking)
	choice, err = e.SetModel(t.Context(), provider.Ref{Provider: "fake", ID: "plain"})
	require.NoError(t, err)
	require.Equal(t, engine.Choice{Model: provider.Ref{Provider: "fake", ID: "plain"}, Thinking: "off"}, choice)
	_, err = e.SetThinking(t.Context(), "high")
	require.True(t, fault.Is(err, fault.InvalidArgument))
	require.Equal(t, "plain answer", w.run(e, "hi").text())
}

func TestRealPiWithAnExtensionThatWritesToItsOutput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.extension(`import("node:fs").then((fs) => { console.log("to console"); fs.writeSync(1, "straight to fd 1\n"); fs.writeSync(1, '{"half": '); });`)
	w.service.Script("m", providertest.Reply{Text: "ok"})
	e, _ := w.open(newHost(t))
	require.Equal(t, "ok", w.run(e, "hi").text())
}

func TestRealPiRetries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.service.Script("m", providertest.Reply{Fault: providertest.ServerError}, providertest.Reply{Text: "recovered"}, providertest.Reply{Fault: providertest.BadKey})
	h := newHost(t)
	e, _ := w.open(h)
	out := w.run(e, "hi")
	require.NoError(t, out.Err)
	require.Equal(t, "recovered", out.text())
	require.True(t, has(h.all(), "auto_retry_start", `"reason":"server"`), "%q", h.all())
	require.True(t, has(h.all(), "auto_retry_end", `"success":true`))
	out = w.run(e, "again")
	var cause *provider.Error
	require.ErrorAs(t, out.Err, &cause)
	require.Equal(t, provider.Auth, cause.Class)
	require.Equal(t, "error", out.StopReason)
}
