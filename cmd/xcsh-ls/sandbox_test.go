package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
)

// The hidden command is the launcher: it runs a program restricted only by the policy and returns its exit code.
func TestSandboxExec(t *testing.T) {
	t.Parallel()
	if s := sandbox.Supported(); !s.OK {
		require.Empty(t, os.Getenv("XCSH_REQUIRE_SANDBOX"), s.Sentence)
		t.Skip(s.Sentence)
	}
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "inside"), filepath.Join(dir, "outside")
	for _, d := range []string{inside, outside} {
		require.NoError(t, os.Mkdir(d, 0o700))
	}
	policy, err := json.Marshal(sandbox.Policy{Level: sandbox.Standard, Write: []string{inside}})
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "xcsh-ls", "sandbox-exec", "--policy", string(policy), "--", "sh", "-c", "echo a >new && cat new; echo x >../outside/new; exit 7")
	cmd.Dir = inside
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	var out bytes.Buffer
	cmd.Stdout = &out
	err = cmd.Run()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, exit.ExitCode())
	require.Equal(t, "a\n", out.String())
	require.NoFileExists(t, filepath.Join(outside, "new"))
}

func TestSandboxExecRefusesABadPolicy(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "xcsh-ls", "sandbox-exec", "--policy", "{", "--", "sh", "-c", "echo ran")
	cmd.Stdout, cmd.Stderr = &out, &out
	require.Error(t, cmd.Run())
	require.Contains(t, out.String(), "--policy is not valid JSON")
	require.NotContains(t, out.String(), "ran")
}

func TestSandboxExecIsHidden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	root := rootCommand()
	root.SetOut(&out)
	root.SetArgs([]string{"help"})
	require.NoError(t, root.Execute())
	require.Contains(t, out.String(), "doctor")
	require.NotContains(t, out.String(), "sandbox-exec")
}
