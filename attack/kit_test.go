package attack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// program is the built xcsh-ls.
var program string

// TestMain builds the program once, unless XCSH_LS names one.
func TestMain(m *testing.M) {
	serveMCP()
	os.Exit(withProgram(m))
}

func withProgram(m *testing.M) int {
	// The program would inherit a signal that is ignored here, as under nohup.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if program = os.Getenv("XCSH_LS"); program != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "attack")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program = filepath.Join(dir, "xcsh-ls")
	build := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", program, "../cmd/xcsh-ls")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return m.Run()
}

const (
	// serviceKey is the API key of the fake model service.
	serviceKey = "key-of-the-fake-service"

	// secret is part of every file and variable that must not leave the machine.
	secret = "TOP-SECRET-6f1d"

	// deadline is the timeout of a run. Only a failing test reaches it.
	deadline = 120 * time.Second

	// conversation is the timeout of a server with an editor. Each of its responses has a timeout of
	// its own, so that a long conversation does not fail on a slow machine.
	conversation = 15 * time.Minute
)

// atOnce is the timeout of a call that must not block. Only a failing test reaches it.
const atOnce = time.Minute

// victim is a user's machine: a home directory with secrets, a project folder, a directory outside of
// it, and the model fake/m of a service on loopback, which sends the replies that the test scripted.
type victim struct {
	*providertest.Server
	t                   *testing.T
	home, work, outside string
	env                 []string // additional variables
}

func newVictim(t *testing.T) *victim {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	v := &victim{
		t: t, Server: providertest.New(t),
		home: filepath.Join(dir, "home"), work: filepath.Join(dir, "work"), outside: filepath.Join(dir, "outside"),
	}
	v.Key = serviceKey
	models, err := json.Marshal(map[string]any{"providers": map[string]any{"fake": map[string]any{
		"baseUrl": v.URL(provider.AnthropicMessages), "api": provider.AnthropicMessages, "apiKey": serviceKey,
		"models": []any{map[string]any{"id": "m", "contextWindow": 200_000, "maxTokens": 32_000}},
	}}})
	require.NoError(t, err)
	v.write(filepath.Join(v.agentDir(), "models.json"), string(models))
	v.write(filepath.Join(v.agentDir(), "auth.json"), `{"other":{"type":"api_key","key":"`+secret+`"}}`)
	for _, name := range []string{".ssh/id_rsa", ".aws/credentials", ".netrc", ".docker/config.json"} {
		v.write(filepath.Join(v.home, name), secret+" "+name+"\n")
	}
	v.write(filepath.Join(v.outside, "file"), "outside\n")
	require.NoError(t, os.MkdirAll(v.work, 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "tmp"), 0o700))
	return v
}

func (v *victim) agentDir() string { return filepath.Join(v.home, ".xcsh", "agent") }

// path returns the path of a file in the project folder.
func (v *victim) path(name string) string { return filepath.Join(v.work, name) }

func (v *victim) write(path, text string) {
	v.t.Helper()
	require.NoError(v.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(v.t, os.WriteFile(path, []byte(text), 0o600))
}

func (v *victim) read(path string) string {
	v.t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(v.t, err)
	return string(content)
}

// command prepares a run of the program in the project folder. It is killed at the deadline, and at the
// end of the test, before the directories of the test are removed.
func (v *victim) command(args ...string) *exec.Cmd { return v.commandWithin(deadline, args...) }

// commandWithin is command with another deadline.
func (v *victim) commandWithin(limit time.Duration, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(v.t.Context(), limit)
	cmd := exec.CommandContext(ctx, program, args...)
	v.t.Cleanup(func() {
		cancel()
		if cmd.Process != nil && cmd.ProcessState == nil {
			_ = cmd.Wait() // it was killed
		}
	})
	cmd.Dir = v.work
	cmd.Env = append(os.Environ(), "HOME="+v.home, "USERPROFILE="+v.home, "XCSH_LS_NO_DETECT=1", "GORACE=atexit_sleep_ms=0")
	// Not the machine's directory for temporary files, which contains the victim's home directory.
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(filepath.Dir(v.home), "tmp"))
	cmd.Env = append(cmd.Env, v.env...)
	return cmd
}

// needsSandbox skips the test on a machine without a sandbox for commands. With XCSH_REQUIRE_SANDBOX,
// which scripts/test.sh sets if the kernel has Landlock, the test fails instead.
func (v *victim) needsSandbox() {
	v.t.Helper()
	if out := v.run("doctor").stdout; strings.Contains(out, "No sandbox:") {
		require.Empty(v.t, os.Getenv("XCSH_REQUIRE_SANDBOX"), out)
		v.t.Skip(out)
	}
}

// outcome is the result of a run of the program.
type outcome struct {
	code           int
	stdout, stderr string
}

// run runs the program until it exits.
func (v *victim) run(args ...string) outcome {
	v.t.Helper()
	var out, errs bytes.Buffer
	cmd := v.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code is the result
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// ask runs one turn from the shell with additional flags.
func (v *victim) ask(flags ...string) outcome {
	v.t.Helper()
	return v.run(append(append([]string{"run", "--model", "fake/m"}, flags...), "go")...)
}

// edit starts the program as a language server on the project folder. options are merged into the
// initializationOptions.
func (v *victim) edit(options lsptest.Fields) *lsptest.Editor {
	v.t.Helper()
	return v.editWith(options, lsptest.Fields{})
}

// editWith is edit for an editor with the given capabilities.
func (v *victim) editWith(options, capabilities lsptest.Fields) *lsptest.Editor {
	v.t.Helper()
	return v.editAs(v.commandWithin(conversation), options, capabilities)
}

// editAs is editWith for a server whose process the test needs.
func (v *victim) editAs(cmd *exec.Cmd, options, capabilities lsptest.Fields) *lsptest.Editor {
	v.t.Helper()
	cmd.Stderr = &testLog{t: v.t}
	ed := lsptest.StartProcess(v.t, cmd)
	all := lsptest.Fields{"model": "fake/m"}
	maps.Copy(all, options)
	ed.Initialize(lsptest.Fields{
		"initializationOptions": all,
		"workspaceFolders":      []any{lsptest.Fields{"uri": lsptest.URI(v.work), "name": "w"}},
		"capabilities":          capabilities,
	})
	return ed
}

// call returns one tool call of the model.
func call(name string, args any) []providertest.Call {
	return []providertest.Call{{Name: name, Args: args}}
}

func bash(command string) []providertest.Call {
	return call("bash", map[string]any{"command": command})
}

// does scripts one answer of the model per argument, then the end of its turn.
func (v *victim) does(calls ...[]providertest.Call) {
	var replies []providertest.Reply
	for _, c := range calls {
		replies = append(replies, providertest.Reply{ToolCalls: c})
	}
	v.Script("m", append(replies, providertest.Reply{Text: "Done."})...)
}

// results returns the texts of the tool results that the model received, in order.
func (v *victim) results() (texts []string) {
	requests := v.Requests()
	if len(requests) == 0 {
		return nil
	}
	for _, m := range requests[len(requests)-1].Messages {
		if m.Role == provider.RoleToolResult {
			texts = append(texts, m.PlainText())
		}
	}
	return texts
}

// leaked returns the places where the secret left the machine: requests to the model service.
func (v *victim) leaked() []string {
	var where []string
	for i, r := range v.Requests() {
		if bytes.Contains(r.Body, []byte(secret)) {
			where = append(where, fmt.Sprintf("request %d: %s", i+1, around(string(r.Body), secret)))
		}
	}
	return where
}

// around returns the first occurrence of a text with a little of its context.
func around(s, what string) string {
	const context = 80
	at := strings.Index(s, what)
	return s[max(0, at-context):min(len(s), at+len(what)+context)]
}

// testLog writes a process's log to the log of the test.
type testLog struct{ t *testing.T }

func (l *testLog) Write(b []byte) (int, error) {
	if l.t.Context().Err() == nil {
		l.t.Log(strings.TrimSuffix(string(b), "\n"))
	}
	return len(b), nil
}
