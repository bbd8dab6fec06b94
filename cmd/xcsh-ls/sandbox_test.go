package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

// sandboxed runs a shell's line through the launcher and returns what it said.
func sandboxed(t *testing.T, dir string, write []string, line string) (out string, err error) {
	t.Helper()
	program := "sh"
	if runtime.GOOS == "windows" {
		program = "cmd"
	}
	args := []string{"sandbox-exec"}
	for _, w := range write {
		args = append(args, "--write", w)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, append(args, "--", program, "-c", line)...)
	cmd.Dir = dir
	cmd.Args[0] = "xcsh-ls" // by this name the test program is the program itself
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	var all bytes.Buffer
	cmd.Stdout, cmd.Stderr = &all, &all
	err = cmd.Run()
	return all.String(), err
}

func TestSandbox(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	inside, outside := filepath.Join(root, "inside"), filepath.Join(root, "outside")
	for _, dir := range []string{inside, outside} {
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("old"), 0o600))
	}
	run := func(line string) (string, error) {
		return sandboxed(t, inside, []string{inside, "/no/such/directory"}, line)
	}

	if available, _ := tool.SandboxStatus(); !available {
		_, err := run("echo x > ../outside/new; echo x > new")
		require.Error(t, err, "nothing is run without protection")
		require.NoFileExists(t, filepath.Join(outside, "new"))
		require.NoFileExists(t, filepath.Join(inside, "new"))
		return
	}
	out, err := run("echo a > new && mkdir d && mv new d/new && cat d/new && rm file && echo x > /dev/null && echo done")
	require.NoError(t, err, out)
	require.Equal(t, "a\ndone\n", out)

	for _, line := range []string{
		"echo x > ../outside/new", "echo x > ../outside/file", "echo x >> ../outside/file", ": > ../outside/file", "rm ../outside/file",
		"mkdir ../outside/d", "mv ../outside/file .", "mv d ../outside/d", "ln -s x ../outside/link", "sh -c 'sh -c \"echo x > ../outside/new\"'",
	} {
		out, err := run(line)
		require.Error(t, err, "%s: %s", line, out)
	}
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	content, err := os.ReadFile(filepath.Join(outside, "file"))
	require.NoError(t, err)
	require.Equal(t, "old", string(content))

	out, err = run("cat ../outside/file; exit 7")
	require.Equal(t, "old", out, "reading is allowed")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, exit.ExitCode())
}

func TestSandboxIsNotInTheHelp(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	root := rootCommand()
	root.SetOut(&out)
	root.SetArgs([]string{"help"})
	require.NoError(t, root.Execute())
	require.Contains(t, out.String(), "doctor")
	require.NotContains(t, out.String(), "sandbox")
}
