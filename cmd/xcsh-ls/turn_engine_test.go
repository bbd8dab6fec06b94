package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// runWith runs the program with the double of pi on the PATH.
func (m *machine) runWith(double, faults string, args ...string) (code int, stdout, stderr string) {
	m.t.Helper()
	var out, errs strings.Builder
	cmd := m.command(args...)
	cmd.Env = append(cmd.Env, "PATH="+filepath.Dir(double)+string(os.PathListSeparator)+os.Getenv("PATH"), "ENGINE_DOUBLE_FAULTS="+faults)
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the exit code is the result
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// A program answers in a shell, in its own session file, and is asked nothing that no one can answer.
// Proves: EF-04, EF-10
func TestRunWithAnEngine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the directory of the double may be writable by others")
	}
	m := newMachine(t, provider.AnthropicMessages)
	double := enginetest.Build(t, "pi")
	pi := filepath.Join(m.home, ".pi", "agent", "sessions")
	require.NoError(t, os.MkdirAll(pi, 0o700))

	code, stdout, stderr := m.runWith(double, "", "run", "--engine", "pi", "[[say:Hello.]] there")
	require.Zero(t, code, stderr)
	require.Equal(t, "Hello.\n", stdout)
	files, err := filepath.Glob(filepath.Join(pi, "*", "*.jsonl"))
	require.NoError(t, err)
	require.Len(t, files, 1)

	code, stdout, stderr = m.runWith(double, "", "run", "--engine", "pi", "--resume", files[0], `[[ask:confirm {"title":"Go?","message":"Really"}]] ask`)
	require.Zero(t, code, stderr)
	require.Contains(t, stderr, `An extension asks "Go?". The question was cancelled because no one can answer it.`)
	require.NotEmpty(t, stdout)
	again, err := filepath.Glob(filepath.Join(pi, "*", "*.jsonl"))
	require.NoError(t, err)
	require.Equal(t, files, again, "the session goes on in its file")

	code, _, stderr = m.runWith(double, "no-login", "run", "--engine", "pi", "hello")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "Run 'xcsh-ls login pi' in a terminal, then try again.")
	code, _, stderr = m.runWith(double, "exit:3;stderr:Error: Model not found", "run", "--engine", "pi", "hello")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "Model not found")
	code, _, stderr = m.runWith(double, "", "run", "--engine", "none", "hello")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "none")
	code, _, _ = m.runWith(double, "", "run", "--engine", "pi", "--no-session", "hello")
	require.Equal(t, 2, code)
}
