package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// formats are the wire formats that a service may speak.
var formats = []provider.API{
	provider.AnthropicMessages, provider.OpenAICompletions, provider.OpenAIResponses, provider.AzureResponses, provider.GoogleGenerativeAI,
	provider.BedrockConverse,
}

// forEachFormat runs a test once per wire format.
func forEachFormat(t *testing.T, test func(t *testing.T, m *machine)) {
	t.Helper()
	for _, api := range formats {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			test(t, newMachine(t, api))
		})
	}
}

// machine is a user's machine: a home directory whose models.json defines the model fake/m of a service
// on loopback, and a folder to work in.
type machine struct {
	*providertest.Server
	t          *testing.T
	home, work string
	env        []string // further variables of the program
}

const fakeKey = "the-key-of-the-fake"

func newMachine(t *testing.T, api provider.API) *machine {
	t.Helper()
	// Resolved paths: on macOS the directory for temporary files is behind a symbolic link.
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m := &machine{t: t, Server: providertest.New(t), home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	m.Key = fakeKey
	models, err := json.Marshal(map[string]any{"providers": map[string]any{"fake": map[string]any{
		"baseUrl": m.URL(api), "api": api, "apiKey": fakeKey,
		"models": []any{map[string]any{"id": "m", "contextWindow": 200_000, "maxTokens": 32_000}},
	}}})
	require.NoError(t, err)
	m.write(filepath.Join(m.agentDir(), "models.json"), string(models))
	require.NoError(t, os.MkdirAll(m.work, 0o700))
	return m
}

func (m *machine) agentDir() string { return filepath.Join(m.home, ".xcsh", "agent") }

// path returns the path of a file in the folder.
func (m *machine) path(name string) string { return filepath.Join(m.work, name) }

func (m *machine) write(path, text string) {
	m.t.Helper()
	require.NoError(m.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(m.t, os.WriteFile(path, []byte(text), 0o600))
}

func (m *machine) read(path string) string {
	m.t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(m.t, err)
	return string(content)
}

// command prepares a run of the program in the folder.
func (m *machine) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(m.t.Context(), "xcsh-ls", args...)
	cmd.Dir = m.work
	cmd.Env = append(os.Environ(), "HOME="+m.home, "USERPROFILE="+m.home, "XCSH_LS_NO_DETECT=1", "GORACE=atexit_sleep_ms=0")
	cmd.Env = append(cmd.Env, m.env...)
	return cmd
}

// run runs the program until it exits.
func (m *machine) run(args ...string) (code int, stdout, stderr string) {
	m.t.Helper()
	var out, errs bytes.Buffer
	cmd := m.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code is the result
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// running is a run of the program whose model has sent part of its answer and then pauses.
type running struct {
	*exec.Cmd
	m      *machine
	said   string
	out    io.Reader
	errors bytes.Buffer
}

// begin starts the program and waits until its standard output contains the text.
func (m *machine) begin(text string, args ...string) *running {
	m.t.Helper()
	r := &running{Cmd: m.command(args...), m: m}
	r.Stderr = &r.errors
	out, err := r.StdoutPipe()
	require.NoError(m.t, err)
	require.NoError(m.t, r.Start())
	r.out = out
	var all bytes.Buffer
	for piece := make([]byte, 4096); !strings.Contains(all.String(), text); {
		n, err := out.Read(piece)
		all.Write(piece[:n])
		if err != nil {
			_ = r.Wait() // only its output matters
			require.NoError(m.t, err, "it ended: %s%s", all.String(), r.errors.String())
		}
	}
	r.said = all.String()
	return r
}

// end waits until the program exits.
func (r *running) end() (code int, stdout, stderr string) {
	r.m.t.Helper()
	rest, err := io.ReadAll(r.out)
	require.NoError(r.m.t, err)
	_ = r.Wait() // the exit code is the result
	return r.ProcessState.ExitCode(), r.said + string(rest), r.errors.String()
}

// sessionFile returns the machine's only session file.
func (m *machine) sessionFile() string {
	m.t.Helper()
	files, err := filepath.Glob(filepath.Join(m.agentDir(), "sessions", "*", "*.jsonl"))
	require.NoError(m.t, err)
	require.Len(m.t, files, 1)
	return files[0]
}

// messages returns the messages of a session file, which must have no problems.
func (m *machine) messages(path string) []provider.Message {
	m.t.Helper()
	var messages []provider.Message
	text := m.read(path)
	require.True(m.t, strings.HasSuffix(text, "\n"), "the last line is complete")
	for line := range strings.Lines(text) {
		require.True(m.t, json.Valid([]byte(line)), line)
		if raw := rawjson.Get([]byte(line), "message"); raw != nil {
			message, err := provider.DecodeMessage(raw)
			require.NoError(m.t, err)
			messages = append(messages, message)
		}
	}
	doc, err := session.NewStore(session.StoreConfig{Fs: osFs}).Load(path)
	require.NoError(m.t, err)
	require.Empty(m.t, doc.Problems())
	require.NoError(m.t, doc.Close())
	return messages
}

// roles returns the role of each message, with the stop reasons of the answers.
func roles(messages []provider.Message) string {
	var all []string
	for _, m := range messages {
		role := m.Role
		if m.StopReason != "" {
			role += ":" + m.StopReason
		}
		all = append(all, role)
	}
	return strings.Join(all, " ")
}

// calls returns one call of a tool with these arguments.
func calls(name string, args any) []providertest.Call {
	return []providertest.Call{{Name: name, Args: args}}
}

// saved writes sessions of the folder, the newest first, and returns their paths.
func (m *machine) saved(prompts ...string) (paths []string) {
	m.t.Helper()
	dir := filepath.Join(m.agentDir(), "sessions", "--"+strings.ReplaceAll(strings.TrimPrefix(m.work, "/"), "/", "-")+"--")
	for i, prompt := range prompts {
		id := fmt.Sprintf("0190%012d", i)
		path := filepath.Join(dir, "2026-01-01T00-00-00-000Z_"+id+".jsonl")
		content, err := json.Marshal(prompt)
		require.NoError(m.t, err)
		m.write(path, fmt.Sprintf(`{"type":"session","version":3,"id":%q,"timestamp":"2026-01-01T00:00:00.000Z","cwd":%q}`+"\n", id, m.work)+
			fmt.Sprintf(`{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":%s,"timestamp":1}}`+"\n", content))
		at := time.Now().Add(-time.Duration(i+1) * time.Hour)
		require.NoError(m.t, os.Chtimes(path, at, at))
		paths = append(paths, path)
	}
	return paths
}
