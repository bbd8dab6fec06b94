//go:build unix

package tool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/artifact"
)

func TestBash(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, map[string]string{"sub/x": ""})
	for _, c := range []struct{ name, command, want string }{
		{"output", "echo a; echo b >&2; echo c", "a\nb\nc\n"},
		{"no output", "true", "(no output)"},
		{"the folder", "ls", "sub\n"},
		{"no input", "cat; echo end", "end\n"},
		{"no terminal", `tty; test -t 1 || echo none; (: < /dev/tty) 2>/dev/null || echo not even that`, "not a tty\nnone\nnot even that\n"},
		{"nothing is interactive", `echo $GIT_TERMINAL_PROMPT $PAGER $GIT_PAGER $TERM`, "0 cat cat dumb\n"},
		{"colours and control characters", `printf '\033[1;31mred\033[0m \033]0;title\007a\rb\000c\010\n'`, "red abc\n"},
		{"bytes that are no characters", `printf 'caf\351\n'`, "caf\uFFFD\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, w.in(t).ok("bash", object(t, "command", c.command)))
		})
	}
}

// A command that runs for ever ends, and the result says what to do about it.
func TestTheDefaultTimeLimits(t *testing.T) {
	t.Parallel()
	require.Equal(t, "5m0s 2m0s", fmt.Sprint(tool.DefaultTimeout, " ", tool.StrictTimeout))
	w := diskWorld(t, tool.Options{}, nil)
	r, err := w.call("bash", `{"command":"exec sleep 100","timeout":0.05}`)
	require.NoError(t, err)
	require.True(t, r.IsError)
	require.Equal(t, "(no output)\n\nCommand timed out after 0.05 seconds\n\n[Set a longer timeout, or background for a command that does not end by itself.]", text(r))
	require.Contains(t, string(w.tools["bash"].Parameters), "In seconds. Default: 300.")
}

func TestBashFailures(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, nil)
	for command, want := range map[string]string{
		"echo out; exit 3":   "out\n\nCommand exited with code 3",
		"exit 1":             "(no output)\n\nCommand exited with code 1",
		"kill -9 $$":         "(no output)\n\nCommand exited with code 137",
		"no-such-program-12": "line 1: no-such-program-12: command not found\n\nCommand exited with code 127",
	} {
		r, err := w.call("bash", object(t, "command", command))
		require.NoError(t, err)
		require.True(t, r.IsError)
		require.Equal(t, want, strings.TrimPrefix(text(r), "/usr/bin/bash: "))
	}
	require.Equal(t, "bash needs a command.", w.refused("bash", `{"command":" \n"}`))
	require.Equal(t, "bash: timeout must be a number of seconds above 0.", w.refused("bash", `{"command":"ls","timeout":-1}`))
	require.Contains(t, w.refused("bash", `{"command":"ls","pty":true}`), "commands have no terminal")
	require.Contains(t, w.refused("bash", `{"command":"ls","env":{"a b":"c"}}`), "not a valid variable name")

	require.NoError(t, os.Remove(w.env.Cwd))
	_, err := w.call("bash", `{"command":"ls"}`)
	require.EqualError(t, err, "The working directory "+w.env.Cwd+" no longer exists, so no command can run in it.")
	require.True(t, fault.Is(err, fault.NotFound))
}

// Values that other programs take as parameters are in the command line that the user sees.
func TestBashTakesFolderAndVariablesIntoTheCommand(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, map[string]string{"a b/it's": ""})
	own, err := w.tools["bash"].Check(json.RawMessage(`{"command":"ls; echo $Y$X","cwd":"a b","env":{"X":"it's","Y":"$("},"pty":false,"tail":3,"timeout":"30"}`))
	require.NoError(t, err)
	require.JSONEq(t, `{"command":"cd 'a b' && export X='it'\\''s' && export Y='$(' &&\nls; echo $Y$X","timeout":30}`, string(own))
	r, err := w.tools["bash"].Run(t.Context(), w.env, own)
	require.NoError(t, err)
	require.Equal(t, "it's\n$(it's\n", text(r))
}

// A model's commands see no variable that is not known to be harmless, the user's own ones all
// but the keys of model services.
func TestSecretsAreNotInTheEnvironment(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "SOME_NEW_SERVICE_API_KEY", "HF_TOKEN", "CORP_LLM", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, "secret-"+name)
	}
	t.Setenv("GOFLAGS", "secret-no")
	o := tool.Options{KeyEnv: func() []string { return []string{"CORP_LLM"} }}
	line := "env | grep -o 'secret-.*' | sort"
	w := diskWorld(t, o, nil)
	require.Equal(t, "secret-no\n", w.ok("bash", `{"command":"`+line+`"}`))
	out, err := tool.NewShell(o).Run(t.Context(), tool.Command{Line: line, Cwd: w.env.Cwd, Own: true}, nil)
	require.NoError(t, err)
	require.Equal(t, "secret-AWS_SECRET_ACCESS_KEY\nsecret-GITHUB_TOKEN\nsecret-no\n", out.Output)
}

func TestLongOutputIsKeptInAFile(t *testing.T) {
	t.Parallel()
	store := session.NewStore(session.StoreConfig{Fs: afero.NewOsFs()})
	artifacts := filepath.Join(t.TempDir(), "sessions", "2026_1")
	w := diskWorld(t, tool.Options{}, nil)
	w.env.Keep = func(name string) (tool.KeptFile, error) {
		f, err := artifact.Dir{Fs: store.Fs, Session: artifacts + ".jsonl"}.Create(name)
		if err != nil {
			return tool.KeptFile{}, err
		}
		return tool.KeptFile{File: f.File, Path: f.Path, ArtifactID: f.ID}, nil
	}
	for _, c := range []struct{ name, command, begins, ends string }{
		{"many lines", "seq 5000", "3001\n3002\n", "\n5000\n\n[Showing lines 3001-5000 of 5000. Full output: PATH]"},
		{"many bytes", "for i in $(seq 1500); do printf '%0100d\\n' $i; done", strings.Repeat("0", 96) + "0995\n", "1500\n\n[Showing lines 995-1500 of 1500 (50.0KB limit). Full output: PATH]"},
		{"one line", "echo first; head -c 300000 /dev/zero | tr '\\0' x; echo", "xxx", "xxx\n\n[Showing last 50.0KB of line 2 (line is 293.0KB). Full output: PATH]"},
		{"no end of the line", "seq 2500; printf end", "502\n", "\nend\n\n[Showing lines 502-2501 of 2501. Full output: PATH]"},
		{"characters of several bytes", "for i in $(seq 40000); do printf é; done", "éé", "é\n\n[Showing last 50.0KB of line 1 (line is 78.1KB). Full output: PATH]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := w.call("bash", object(t, "command", c.command))
			require.NoError(t, err)
			require.False(t, r.IsError)
			var d struct {
				FullOutputPath string
				Truncation     tool.Truncation
				Meta           tool.OutputMeta
			}
			require.NoError(t, json.Unmarshal(r.Details, &d))
			require.Equal(t, filepath.Join(artifacts, d.Meta.Truncation.ArtifactID+".bash.log"), d.FullOutputPath)
			require.Equal(t, "tail", d.Meta.Truncation.Direction)
			require.Equal(t, *d.Truncation.TruncatedBy, d.Meta.Truncation.TruncatedBy)
			require.Equal(t, tool.LineRange{Start: d.Truncation.TotalLines - d.Truncation.OutputLines + 1, End: d.Truncation.TotalLines}, d.Meta.Truncation.ShownRange)
			require.True(t, strings.HasPrefix(text(r), c.begins), text(r)[:50])
			require.True(t, strings.HasSuffix(text(r), strings.ReplaceAll(c.ends, "PATH", d.FullOutputPath)), text(r)[len(text(r))-200:])
			require.LessOrEqual(t, len(text(r)), tool.MaxBytes+300)
			require.NotContains(t, text(r), "\uFFFD")

			whole, err := os.ReadFile(d.FullOutputPath)
			require.NoError(t, err)
			require.Len(t, whole, d.Truncation.TotalBytes)
			shown, _, _ := strings.Cut(text(r), "\n\n[")
			require.True(t, strings.HasSuffix(strings.TrimSuffix(string(whole), "\n"), strings.TrimSuffix(shown, "\n")))
			info, err := os.Stat(d.FullOutputPath)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o600), info.Mode())
		})
	}
}

// Without a place beside the session an output is kept in the temporary directory, and is not an
// artifact.
func TestALongOutputOfASessionInMemory(t *testing.T) {
	t.Parallel()
	store := session.NewStore(session.StoreConfig{Fs: afero.NewOsFs()})
	temp := t.TempDir()
	shell := tool.NewShell(tool.Options{TempDir: temp})
	for name, keep := range map[string]tool.Keep{
		"no place is known": nil,
		"there is none": func(name string) (tool.KeptFile, error) {
			_, err := artifact.Dir{Fs: store.Fs}.Create(name)
			return tool.KeptFile{}, err
		},
	} {
		out, err := shell.Run(t.Context(), tool.Command{Own: true, Line: "seq 3000", Cwd: temp, Keep: keep}, nil)
		require.NoError(t, err)
		require.Equal(t, temp, filepath.Dir(out.FullOutputPath), name)
		require.Empty(t, out.ArtifactID)
		require.NotContains(t, string(out.Meta()), "artifactId")
		whole, err := os.ReadFile(out.FullOutputPath)
		require.NoError(t, err)
		require.True(t, strings.HasSuffix(string(whole), "\n3000\n"), name)
	}
	out, err := shell.Run(t.Context(), tool.Command{Own: true, Line: "echo short", Cwd: temp}, nil)
	require.NoError(t, err)
	require.Nil(t, out.Meta())
}

// A disk that is full does not end a command.
func TestALongOutputThatCannotBeKept(t *testing.T) {
	t.Parallel()
	for at := 1; at < 5; at++ {
		dir := t.TempDir()
		shell := tool.NewShell(tool.Options{Fs: &st.FaultFs{Fs: afero.NewOsFs(), At: at, Mode: st.Dead}, TempDir: dir})
		out, err := shell.Run(t.Context(), tool.Command{Own: true, Line: "seq 30000", Cwd: dir}, nil)
		require.NoError(t, err)
		require.Equal(t, 0, *out.ExitCode)
		require.True(t, out.Truncated)
		require.Empty(t, out.FullOutputPath)
		require.True(t, strings.HasSuffix(out.Output, "\n30000"))
	}
}

// gate is a named pipe. Opening an end of it waits for the other one, so that a test and
// a command meet.
func gate(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	return path
}

// await waits until the command opens the gate for writing, and returns the written text.
func await(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error() // which is not a process
	}
	return strings.TrimSpace(string(b))
}

func requireGone(t *testing.T, pid string) {
	t.Helper()
	var n int
	_, err := fmt.Sscan(pid, &n)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		return syscall.Kill(n, 0) != nil || err == nil && strings.Contains(string(stat), ") Z ")
	}, 10*time.Second, 5*time.Millisecond)
}

func TestCancelEndsTheWholeGroup(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, nil)
	g := gate(t, w.env.Cwd, "gate")
	ctx, cancel := context.WithCancel(t.Context())
	var child string
	go func() {
		child = await(g)
		cancel()
	}()
	// If only the shell ended, its child would keep the output open for 1000 seconds.
	r, err := w.tools["bash"].Run(ctx, w.env, json.RawMessage(`{"command":"echo before; sleep 1000 & echo $! > gate; wait"}`))
	require.NoError(t, err)
	require.True(t, r.IsError)
	require.Equal(t, "before\n\nCommand aborted", text(r))
	requireGone(t, child)
}

func TestCancelKillsProcessesThatDoNotEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := gate(t, dir, "gate")
	shell := tool.NewShell(tool.Options{}).WithGrace(20 * time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	var child string
	go func() {
		child = await(g)
		cancel()
	}()
	out, err := shell.Run(ctx, tool.Command{Own: true, Line: `trap '' TERM; (trap '' TERM; sh -c 'echo $PPID' > gate; while :; do sleep 1000; done) & wait; while :; do sleep 1000; done`, Cwd: dir}, nil)
	require.NoError(t, err)
	require.True(t, out.Cancelled)
	require.Nil(t, out.ExitCode)
	requireGone(t, child)
}

// A command that cleans up on SIGTERM has the time to do so.
func TestACommandMayTidyUp(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, nil)
	r, err := w.call("bash", `{"command":"trap 'echo tidied; exit 0' TERM; echo begun; sleep 1000 & wait","timeout":0.2}`)
	require.NoError(t, err)
	require.True(t, r.IsError)
	require.Equal(t, "begun\ntidied\n\nCommand timed out after 0.2 seconds\n\n[Set a longer timeout, or background for a command that does not end by itself.]", text(r))
}

func TestACancelledCommandDoesNotBegin(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.tools["bash"].Run(ctx, w.env, json.RawMessage(`{"command":"touch x"}`))
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, w.path("x"))
}

func TestSomethingInTheBackgroundIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, nil)
	r, err := w.call("bash", `{"command":"sleep 1000 & echo $!"}`)
	require.NoError(t, err)
	require.False(t, r.IsError)
	pid, note, _ := strings.Cut(text(r), "\n")
	require.Contains(t, note, "is still running. Its further output is lost")
	var n int
	_, err = fmt.Sscan(pid, &n)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(n, syscall.SIGKILL), "it was left alone")

	out := w.ok("bash", `{"command":"sleep 1000 > /dev/null 2>&1 & echo $!"}`)
	require.NotContains(t, out, "background")
	_, err = fmt.Sscan(out, &n)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(n, syscall.SIGKILL))
}

func TestOutputIsShownWhileItComes(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, nil)
	g := gate(t, w.env.Cwd, "gate")
	var once sync.Once
	w.env.Update = func(r tool.Result) {
		if text(r) == "first\n" {
			once.Do(func() { // the command continues when its first line was seen
				go func() { assert.NoError(t, os.WriteFile(g, []byte("go\n"), 0o600)) }()
			})
		}
	}
	require.Equal(t, "first\ngo\nlast\n", w.ok("bash", `{"command":"echo first; cat gate; echo last"}`))
}

func TestShellOfTheUser(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shell := tool.NewShell(tool.Options{Shell: "/bin/sh"})
	out, err := shell.Run(t.Context(), tool.Command{Own: true, Line: "echo $0; exit 4", Cwd: dir}, nil)
	require.NoError(t, err)
	require.Equal(t, "/bin/sh\n", out.Output)
	require.Equal(t, 4, *out.ExitCode)
	require.False(t, out.Truncated || out.Cancelled || out.TimedOut || out.Background)

	_, err = tool.NewShell(tool.Options{Shell: "/no/such/shell"}).Run(t.Context(), tool.Command{Own: true, Line: "x", Cwd: dir}, nil)
	require.ErrorContains(t, err, "Cannot run /no/such/shell")
}

// The launcher of this test writes down how it was called.
func TestCommandsRunThroughTheSandbox(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{Sandbox: &sandbox.Box{
		Launcher: []string{"/bin/sh", "-c", `printf '%s\n' "$@"`, "launcher"}, OS: "linux", Temp: "/tmp/t", Getenv: func(string) string { return "" },
		Deny: func() []string { return []string{"/keys"} },
	}, Shell: "/bin/sh"}, nil)
	w.env.Permission.Level = sandbox.Strict
	require.Equal(t, `{"level":0,"deny":["/keys"]}`+"\n--\n/bin/sh\n-c\nls -l\n", w.ok("bash", `{"command":"ls -l"}`))
	w.env.Permission.Level = sandbox.Standard
	require.Equal(t, `{"level":1,"deny":["/keys"],"write":["`+w.env.Cwd+`","/tmp/t","/dev/shm"],"network":true}`+"\n--\n/bin/sh\n-c\nls -l\n", w.ok("bash", `{"command":"ls -l"}`))
	w.env.Permission.Level = sandbox.Outside
	w.write("file", "")
	require.Equal(t, "file\n", w.ok("bash", `{"command":"ls"}`))
}

func TestNothingRunsUnprotectedWithoutASandbox(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, nil)
	for _, level := range []sandbox.Level{sandbox.Strict, sandbox.Standard} {
		w.env.Permission.Level = level
		require.Equal(t, "There is no sandbox, so the command was not run.", w.refused("bash", `{"command":"echo x >new"}`))
	}
	require.NoFileExists(t, w.path("new"))
}

// failing is a box whose commands report that they are blocked.
func failing() tool.Options {
	return tool.Options{Sandbox: &sandbox.Box{
		Launcher: []string{"/bin/sh", "-c", `echo "rm: /x: Permission denied" >&2; exit 1`, "launcher"}, OS: "linux", Getenv: func(string) string { return "" },
	}, Shell: "/bin/sh"}
}

func TestABlockedCommandRunsWithMoreRightsWhenTheUserAgrees(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, failing(), nil)
	var asked [][]string
	outside := tool.Permission{Level: sandbox.Outside}
	standard := tool.Permission{Level: sandbox.Standard, Widen: func(_ context.Context, blocked []string) (tool.Permission, error) {
		asked = append(asked, blocked)
		return outside, nil
	}}
	w.env.Permission = tool.Permission{Level: sandbox.Strict, Widen: func(_ context.Context, blocked []string) (tool.Permission, error) {
		asked = append(asked, blocked)
		return standard, nil
	}}
	require.Equal(t, "done\n", w.ok("bash", `{"command":"echo done"}`))
	require.Equal(t, [][]string{{"rm: /x: Permission denied"}, {"rm: /x: Permission denied"}}, asked)
}

func TestABlockedCommandIsReportedWhenTheUserDisagrees(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, failing(), nil)
	w.env.Permission = tool.Permission{Level: sandbox.Standard, Widen: func(context.Context, []string) (tool.Permission, error) {
		return tool.Permission{}, fault.New(fault.Denied, "no")
	}}
	r, err := w.call("bash", `{"command":"rm /x"}`)
	require.NoError(t, err)
	require.True(t, r.IsError)
	output := text(r)
	require.Contains(t, output, "[The sandbox blocked this command: rm: /x: Permission denied. The user did not allow it to run with more rights.")
	require.Contains(t, output, "Command exited with code 1")
}

func TestChangesOfProtectedFilesAreUndone(t *testing.T) {
	t.Parallel()
	o := tool.Options{Sandbox: &sandbox.Box{Launcher: []string{"/bin/sh", "-c", `shift 2; exec "$@"`, "launcher"}, OS: "linux", Getenv: func(string) string { return "" }}}
	w := diskWorld(t, o, map[string]string{".envrc": "mine"})
	var asked []string
	var answer error
	w.env.Permission = tool.Permission{Level: sandbox.Standard, Keep: func(_ context.Context, paths []string) error {
		asked = append(asked, paths...)
		return answer
	}}
	require.Equal(t, "(no output)", w.ok("bash", `{"command":"echo x >ordinary"}`))
	require.Empty(t, asked)
	require.Equal(t, "(no output)", w.ok("bash", `{"command":"echo kept >.envrc"}`))
	require.Equal(t, []string{w.path(".envrc")}, asked)
	answer = fault.New(fault.Denied, "no")
	output := w.ok("bash", `{"command":"echo evil >.envrc; mkdir .vscode; echo {} >.vscode/settings.json"}`)
	require.Contains(t, output, "[The command changed protected files: "+w.path(".envrc")+" (changed), "+w.path(".vscode/settings.json")+" (created). The user did not approve these changes, so they were undone.")
	require.Equal(t, "kept\n", w.read(".envrc"))
	require.NoFileExists(t, w.path(".vscode/settings.json"))
}

// Variables that the user passes by rule are for approved commands.
func TestPassedVariablesAreForApprovedCommands(t *testing.T) {
	t.Setenv("GITHUB_TOKEN", "by-rule")
	files := afero.NewMemMapFs()
	require.NoError(t, afero.WriteFile(files, "/sandbox.json", []byte(`{"*":{"env":["GITHUB_TOKEN"]}}`), 0o600))
	w := diskWorld(t, tool.Options{Sandbox: &sandbox.Box{
		Launcher: []string{"/bin/sh", "-c", `shift 2; exec "$@"`, "launcher"}, OS: "linux", Getenv: func(string) string { return "" },
		Rules: &sandbox.Rules{Fs: files, Path: "/sandbox.json"},
	}}, nil)
	for level, want := range map[sandbox.Level]string{sandbox.Strict: ".\n", sandbox.Standard: "by-rule.\n"} {
		w.env.Permission.Level = level
		require.Equal(t, want, w.ok("bash", `{"command":"echo $GITHUB_TOKEN."}`))
	}
}
