//go:build peers && unix

package pi

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// peers is where bench/peers/install.sh installs the terminal programs.
const peers = "../../../bench/peers/node_modules"

func installed(variable string, parts ...string) string {
	if path := os.Getenv(variable); path != "" {
		return path
	}
	return filepath.Join(append([]string{peers}, parts...)...)
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	require.NoError(t, err)
	require.FileExists(t, abs, "it is not installed; run bench/peers/install.sh")
	return abs
}

// world is a user of the real pi, with models of a service of the test.
type world struct {
	t       *testing.T
	service *providertest.Server
	home    string
	cwd     string
	dir     string // of sessions
	program engine.Program
	place   engine.Place
}

func newWorld(t *testing.T) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, service: providertest.New(t), home: filepath.Join(root, "home"), cwd: filepath.Join(root, "work"), dir: filepath.Join(root, "sessions")}
	agent := filepath.Join(w.home, ".pi", "agent")
	for _, dir := range []string{agent, w.cwd, w.dir} {
		require.NoError(t, os.MkdirAll(dir, 0o700))
	}
	cost := object{"input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0}
	model := func(id string, reasoning bool) object {
		return object{"id": id, "name": id, "reasoning": reasoning, "input": []string{"text", "image"}, "contextWindow": 200000, "maxTokens": 8192, "cost": cost}
	}
	w.json(filepath.Join(agent, "models.json"), object{"providers": object{"fake": object{
		"baseUrl": w.service.URL(provider.AnthropicMessages), "apiKey": "k", "api": "anthropic-messages", "models": []any{model("m", true), model("plain", false)},
	}}})
	w.json(filepath.Join(agent, "settings.json"), object{
		"defaultProvider": "fake", "defaultModel": "m", "enableInstallTelemetry": false,
		"retry": object{"baseDelayMs": 10}, "compaction": object{"keepRecentTokens": 10},
	})
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	w.program = engine.Program{
		Name: "pi", Path: absolute(t, installed("XCSH_PI_NODE", "node-"+runtime.GOOS+"-"+arch, "bin", "node")), Protocol: engine.PiRPC,
		Args: []string{absolute(t, filepath.Join(installed("XCSH_PI", "@earendil-works", "pi-coding-agent"), "dist", "bundle", "cli.js"))},
		Env:  []string{"HOME=" + w.home, "TERM=dumb", "PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_NO_TITLE=1"},
	}
	w.place = engine.Place{Cwd: w.cwd, Dir: w.dir, ID: "01a202b1-f0b4-74f1-a829-bdc95815a193", Permit: true, Files: true}
	return w
}

func (w *world) json(path string, v any) {
	w.t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(w.t, err)
	w.file(path, string(raw))
}

// file writes a file; a relative path is one of the folder.
func (w *world) file(path, content string) string {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.cwd, path)
	}
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(w.t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// extension adds an extension of the user, whose function has this body.
func (w *world) extension(body string) {
	w.t.Helper()
	w.file(filepath.Join(w.home, ".pi", "agent", "extensions", "test.ts"), "export default function (pi: any) {\n"+body+"\n}\n")
}

// open starts an engine.
func (w *world) open(h *testHost) (*Engine, engine.Opened) {
	w.t.Helper()
	e := New(w.program, Options{})
	ctx, cancel := context.WithTimeout(w.t.Context(), testLimit)
	defer cancel()
	opened, err := e.Open(ctx, w.place, h)
	require.NoError(w.t, err, "%v", e.fault("").Data["details"])
	w.t.Cleanup(func() { require.NoError(w.t, e.Close(context.Background())) })
	return e, opened
}

// refuse starts an engine that cannot be started and returns why.
func (w *world) refuse() error {
	w.t.Helper()
	e := New(w.program, Options{})
	_, err := e.Open(w.t.Context(), w.place, newHost(w.t))
	require.Error(w.t, err)
	<-e.Done()
	return err
}

func (w *world) run(e *Engine, prompt string) (out outcome) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), testLimit)
	defer cancel()
	return outcome(e.Run(ctx, engine.Input{Text: prompt}))
}

// lines are the entries of a session file.
func (w *world) lines(file string) (entries []map[string]any) {
	w.t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(w.t, err)
	for line := range strings.Lines(string(raw)) {
		var entry map[string]any
		require.NoError(w.t, json.Unmarshal([]byte(line), &entry))
		entries = append(entries, entry)
	}
	return entries
}

func call(name string, args object) []providertest.Call {
	return []providertest.Call{{Name: name, Args: args}}
}

// pollEvery is the time between two looks at what the test has no event for.
const pollEvery = 20 * time.Millisecond

// requireDead waits until a process has ended.
func requireDead(t *testing.T, pid string) {
	t.Helper()
	require.Eventually(t, func() bool {
		raw, err := os.ReadFile("/proc/" + pid + "/stat")
		return err != nil || strings.Contains(string(raw), ") Z ")
	}, testLimit, pollEvery, "process %s lives on", pid)
}
