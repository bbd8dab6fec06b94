//go:build peers && unix

package pi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// newOmpWorld is a user of the real omp, over RPC.
func newOmpWorld(t *testing.T) *world {
	t.Helper()
	w := newForkedWorld(t, ".omp")
	arch := map[string]string{"amd64": "x64", "arm64": "aarch64"}[runtime.GOARCH]
	w.program.Name = "omp"
	w.program.Path = absolute(t, installed("XCSH_BUN", "@oven", "bun-"+runtime.GOOS+"-"+arch, "bin", "bun"))
	w.program.Args = []string{absolute(t, installed("XCSH_OMP", "@oh-my-pi", "pi-coding-agent", "dist", "cli.js"))}
	return w
}

// newForkedWorld is a user of omp or xcsh, whose directory in the home directory is dir, in a session without entries.
func newForkedWorld(t *testing.T, dir string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, service: providertest.New(t), home: filepath.Join(root, "home"), cwd: filepath.Join(root, "work"), dir: filepath.Join(root, "sessions")}
	agent := filepath.Join(w.home, dir, "agent")
	for _, dir := range []string{agent, w.cwd, w.dir} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	cost := object{"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}
	model := func(id string, reasoning bool) object {
		return object{"id": id, "name": id, "reasoning": reasoning, "input": []string{"text", "image"}, "contextWindow": 200000, "maxTokens": 8192, "cost": cost}
	}
	w.json(filepath.Join(agent, "models.json"), object{"providers": object{"fake": object{
		"baseUrl": tolerant(t, w.service.URL(provider.AnthropicMessages)), "apiKey": "k", "api": "anthropic-messages", "models": []any{model("m", true), model("plain", false)},
	}}})
	w.file(filepath.Join(agent, "config.yml"), "modelRoles:\n  default: fake/m\nretry:\n  baseDelayMs: 10\n")
	w.program = engine.Program{
		Protocol: engine.OmpRPC, Env: []string{"HOME=" + w.home, "TERM=dumb", "PI_NO_TITLE=1", "PI_SKIP_VERSION_CHECK=1"},
	}
	id := "01a202b1-f0b4-74f1-a829-bdc95815a193"
	header, err := json.Marshal(object{"type": "session", "version": 3, "id": id, "timestamp": "2026-01-02T03:04:05.678Z", "cwd": w.cwd})
	require.NoError(t, err)
	w.place = engine.Place{
		Cwd: w.cwd, Dir: w.dir, ID: id, Permit: true, Files: true,
		File: w.file(filepath.Join(w.dir, "2026-01-02T03-04-05-678Z_"+id+".jsonl"), string(header)+"\n"),
	}
	return w
}

// tolerant returns the address of a service without the members that the strict one of the test does not know.
func tolerant(t *testing.T, service string) string {
	t.Helper()
	to, err := url.Parse(service)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		body, err := io.ReadAll(r.In.Body)
		if err == nil {
			for _, name := range []string{"context_management", "metadata", "output_config"} {
				body = rawjson.Delete(body, name)
			}
		}
		r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Out.Header.Del("Accept-Encoding")
	}, FlushInterval: -1}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

func TestRealOmpAnswersInASessionOfOurs(t *testing.T) {
	w := newOmpWorld(t)
	w.service.Script("m", providertest.Reply{Thinking: "hm", Text: "hello"}, providertest.Reply{Text: "read"}, providertest.Reply{Text: "end"})
	h := newHost(t)
	began := time.Now()
	e, opened := w.open(h)
	t.Logf("ready after %v", time.Since(began))
	require.Equal(t, provider.Ref{Provider: "fake", ID: "m"}, opened.Model)
	require.Equal(t, w.place.File, opened.File)
	require.True(t, opened.Loose)
	require.Equal(t, engine.Can{Steer: true, Branch: true, Compact: true, Images: true, Permission: true, Models: true, Login: true}, e.Can())

	began = time.Now()
	out := w.run(e, "hi")
	t.Logf("answered after %v", time.Since(began))
	require.NoError(t, out.Err)
	require.Equal(t, "hello", out.text())
	require.Equal(t, provider.StopEnd, out.StopReason)
	require.Empty(t, out.Unanswered)
	require.Equal(t, []string{"user", "assistant"}, h.roles())
	require.True(t, has(h.all(), "leaf "))

	long := strings.Repeat("a line in pieces ", 100_000)
	out = w.run(e, long)
	require.NoError(t, out.Err)
	require.True(t, has(h.all(), "message", strings.TrimSpace(long)), "not cut")
	require.Equal(t, "end", w.run(e, "more").text())
}

func TestRealOmpAsksBeforeToolsChangeSomething(t *testing.T) {
	w := newOmpWorld(t)
	unsaved := w.file("unsaved.txt", "on disk\n")
	w.service.Script(
		"m",
		providertest.Reply{ToolCalls: call("read", object{"path": "unsaved.txt"})},
		providertest.Reply{ToolCalls: call("bash", object{"command": "touch made"})},
		providertest.Reply{ToolCalls: call("bash", object{"command": "env | grep -c XCSH_LS"})},
		providertest.Reply{ToolCalls: call("write", object{"path": "other.txt", "content": "hello"})},
		providertest.Reply{ToolCalls: call("write", object{"path": "unsaved.txt", "content": "lost"})},
		providertest.Reply{ToolCalls: call("read", object{"path": w.service.URL(provider.AnthropicMessages) + "/secret"})},
		providertest.Reply{Text: "done"},
	)
	h := newHost(t)
	h.unsaved = []string{unsaved}
	h.permit = func(_ context.Context, c engine.Call) error {
		if strings.Contains(string(c.Args), "touch") || c.Tool == "read" && c.Effect != engine.Reads {
			return errors.New("not in this folder")
		}
		return nil
	}
	e, _ := w.open(h)
	out := w.run(e, "go")
	require.NoError(t, out.Err)
	require.Equal(t, "done", out.text())
	require.NoFileExists(t, filepath.Join(w.cwd, "made"))
	disk, err := os.ReadFile(unsaved)
	require.NoError(t, err)
	require.Equal(t, "on disk\n", string(disk))
	disk, err = os.ReadFile(filepath.Join(w.cwd, "other.txt"))
	require.NoError(t, err)
	require.Equal(t, "hello", string(disk))

	require.Len(t, h.calls, 5, "what is refused is not asked for")
	require.Equal(t, []any{engine.Reads, unsaved}, []any{h.calls[0].Effect, h.calls[0].Path})
	h.calls = h.calls[1:]
	require.Equal(t, engine.Runs, h.calls[0].Effect)
	require.Equal(t, engine.Changes, h.calls[2].Effect)
	require.Equal(t, filepath.Join(w.cwd, "other.txt"), h.calls[2].Path)
	require.Equal(t, "read", h.calls[3].Tool)
	require.Equal(t, engine.Runs, h.calls[3].Effect, "an address")
	require.True(t, has(h.all(), `"role":"toolResult"`, `"isError":true`, "not in this folder"))
	require.True(t, has(h.all(), `"role":"toolResult"`, `"isError":true`, "unsaved.txt has unsaved changes; save it first."))
	require.True(t, has(h.all(), `"role":"toolResult"`, `"toolName":"bash"`, `"text":"0\n`), "the mark is not in the environment of commands")
	h.wait("omp reads files from disk, and doesn't see the unsaved changes in unsaved.txt.")
}

func TestRealOmpIsAbortedWhileItAsks(t *testing.T) {
	w := newOmpWorld(t)
	w.service.Script("m", providertest.Reply{ToolCalls: call("bash", object{"command": "touch made"})}, providertest.Reply{Text: "again"})
	h := newHost(t)
	h.permit = func(ctx context.Context, _ engine.Call) error {
		<-ctx.Done()
		return ctx.Err()
	}
	e, _ := w.open(h)
	cancel, done := w.begin(e, "go")
	h.wait("permit bash")
	began := time.Now()
	cancel()
	out := <-done
	t.Logf("aborted after %v", time.Since(began))
	require.Equal(t, "aborted", out.StopReason)
	require.NoError(t, out.Err)
	require.NoFileExists(t, filepath.Join(w.cwd, "made"))
	require.Equal(t, "again", w.run(e, "more").text(), "omp is as good as before")
}

func TestRealOmpTakesMessagesInARun(t *testing.T) {
	w := newOmpWorld(t)
	hold := make(chan struct{})
	w.service.Script("m", providertest.Reply{Text: "first answer", Hold: hold}, providertest.Reply{Text: "second"}, providertest.Reply{Text: "third"})
	h := newHost(t)
	e, opened := w.open(h)
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
	require.Empty(t, out.Unanswered)

	// A message that waits cannot be taken back, so that an abort ends the program.
	hold = make(chan struct{})
	defer close(hold)
	w.service.Script("m", providertest.Reply{Text: "long answer", Hold: hold})
	seen := len(h.all())
	cancel, done := w.begin(e, "more")
	h.waitAfter(seen, "text_delta")
	require.NoError(t, e.Queue(t.Context(), loop.FollowUp, engine.Input{Text: "left"}))
	cancel()
	out = <-done
	require.Equal(t, "aborted", out.StopReason)
	require.NoError(t, out.Err)
	require.Len(t, out.Unanswered, 1)
	require.Equal(t, "left", out.Unanswered[0].PlainText())
	<-e.Done()
	require.NoError(t, e.Err())
	require.NotContains(t, w.text(opened.File), `"left"`)

	w.service.Script("m", providertest.Reply{Text: "another process"})
	e, _ = w.open(newHost(t))
	require.Equal(t, "another process", w.run(e, "x").text())
}

func (w *world) text(file string) string {
	w.t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(w.t, err)
	return string(raw)
}

func TestRealOmpMovesAndChoosesModels(t *testing.T) {
	w := newOmpWorld(t)
	w.service.Script("m", providertest.Reply{Text: "one"}, providertest.Reply{Text: "two"}, providertest.Reply{Text: "three"})
	h := newHost(t)
	e, opened := w.open(h)
	w.run(e, "first")
	w.run(e, "second prompt")
	first, second := w.entry(opened.File, `"text":"one"`), w.entry(opened.File, "second prompt")
	moved, err := e.Move(t.Context(), second, engine.Summary{})
	require.NoError(t, err)
	require.Equal(t, engine.Moved{LeafID: first, Text: "second prompt"}, moved)
	require.Equal(t, "three", w.run(e, "third prompt").text())
	for _, entry := range w.lines(opened.File) {
		if entry["id"] == w.entry(opened.File, "third prompt") {
			require.Equal(t, first, entry["parentId"])
		}
	}
	require.True(t, fault.Is(e.Annotate(t.Context(), engine.Annotation{EntryID: first, Label: "x"}), fault.Denied))
	require.True(t, fault.Is(e.Annotate(t.Context(), engine.Annotation{Title: "x"}), fault.Denied))
	_, err = e.Bash(t.Context(), "true", false, nil)
	require.True(t, fault.Is(err, fault.Denied))
	_, err = e.Move(t.Context(), "nothing", engine.Summary{})
	require.Error(t, err)

	models, err := e.Models(t.Context())
	require.NoError(t, err)
	require.Len(t, models, 2)
	choice, err := e.SetModel(t.Context(), provider.Ref{Provider: "fake", ID: "plain"})
	require.NoError(t, err)
	require.Equal(t, "fake/plain", choice.Model.String())
	_, err = e.SetModel(t.Context(), provider.Ref{Provider: "fake", ID: "none"})
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = e.SetModel(t.Context(), provider.Ref{Provider: "fake", ID: "m"})
	require.NoError(t, err)
	choice, err = e.SetThinking(t.Context(), provider.High)
	require.NoError(t, err)
	require.Equal(t, provider.High, choice.Thinking)
	_, err = e.SetThinking(t.Context(), "great")
	require.True(t, fault.Is(err, fault.InvalidArgument))
	commands, err := e.Commands(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, commands)
	for _, c := range commands {
		require.False(t, isOwnCommand(c.Name), c.Name)
	}
	_, err = e.Compact(t.Context(), "")
	require.Error(t, err)
	require.NoError(t, e.Reread(t.Context()))
	require.NoError(t, e.usable(), "the same session")

	// A command that asks the model nothing.
	began := time.Now()
	out := w.run(e, "/model")
	t.Logf("a command of omp after %v: %v", time.Since(began), out.Err)
	require.Nil(t, out.Message)
	require.Empty(t, out.Unanswered)
}

func TestRealOmpIsKilled(t *testing.T) {
	w := newOmpWorld(t)
	hold := make(chan struct{})
	defer close(hold)
	w.service.Script("m", providertest.Reply{Text: "never", Hold: hold})
	h := newHost(t)
	e, opened := w.open(h)
	_, done := w.begin(e, "go")
	h.wait("text_delta")
	require.NoError(t, syscall.Kill(e.proc.(running).Pid(), syscall.SIGKILL))
	out := <-done
	require.Equal(t, "error", out.StopReason)
	require.ErrorContains(t, out.Err, "ended unexpectedly")
	t.Logf("unanswered: %d, in the file: %v", len(out.Unanswered), strings.Contains(w.text(opened.File), `"go"`))
	require.Equal(t, len(out.Unanswered) == 0, strings.Contains(w.text(opened.File), `"go"`))
	w.service.Script("m", providertest.Reply{Text: "another process"})
	e, _ = w.open(newHost(t))
	require.Equal(t, "another process", w.run(e, "x").text())
}

func TestRealOmpDoesNotRunCodeOfTheWorkspace(t *testing.T) {
	w := newOmpWorld(t)
	made := filepath.Join(w.home, "made")
	code := `import { appendFileSync } from "node:fs"; appendFileSync(` + "`" + made + "`" + `, "NAME\n"); export default () => ({})`
	for _, name := range []string{".omp/extensions/a.ts", ".omp/hooks/pre/a.ts", ".omp/tools/a.ts", ".omp/commands/a/index.ts", ".claude/extensions/b.ts", ".claude/tools/b.ts", ".pi/extensions/c.ts"} {
		w.file(name, strings.ReplaceAll(code, "NAME", name))
	}
	w.json(filepath.Join(w.cwd, ".mcp.json"), object{"mcpServers": object{"x": object{"command": "sh", "args": []string{"-c", "echo mcp >> " + made}}}})
	w.service.Script("m", providertest.Reply{Text: "hello"})
	err := w.refuse()
	require.ErrorContains(t, err, "would run code of this workspace (.omp/extensions)")
	require.NoFileExists(t, made)

	w.place.Trusted = true
	e, _ := w.open(newHost(t))
	require.Equal(t, "hello", w.run(e, "hi").text())
	t.Logf("what ran where it is trusted: %q", w.text(made))
}
