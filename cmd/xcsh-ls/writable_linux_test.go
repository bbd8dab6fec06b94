package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// In a container the program may run as a user whose home directory belongs to another user.
func TestHomeOfAnotherUser(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".xcsh", "agent"), 0o750))
	for _, dir := range []string{filepath.Dir(home), home, filepath.Join(home, ".xcsh"), filepath.Join(home, ".xcsh", "agent")} {
		require.NoError(t, os.Chmod(dir, 0o555))
	}
	t.Cleanup(func() { // otherwise they cannot be removed
		for _, dir := range []string{filepath.Dir(home), home, filepath.Join(home, ".xcsh"), filepath.Join(home, ".xcsh", "agent")} {
			_ = os.Chmod(dir, 0o755)
		}
	})
	code, out, errs := asNobody(t, home, "list")
	require.Zero(t, code, errs)
	require.Equal(t, "No sessions found\n", out)
	code, out, errs = asNobody(t, home, "run", "--model", "offline/demo", "hello")
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, errs, "Cannot save sessions in "+filepath.Join(home, ".xcsh", "agent", "sessions"))
	require.Contains(t, errs, ": permission denied. Pass a writable directory with --agent-dir, or --no-session to keep the session in memory.\n")
	require.Equal(t, 1, strings.Count(errs, "\n"), errs)
	code, out, errs = asNobody(t, home, "run", "--no-session", "--model", "offline/demo", "hello")
	require.Zero(t, code, errs)
	require.Contains(t, out, "It lists this folder")
}

// asNobody runs the program in its home directory as a user without write permission.
func asNobody(t *testing.T, home string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	file, err := os.Open(program)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "/proc/self/fd/3", args...) // UID 65534 has no access to its directory
	cmd.Args[0] = "xcsh-ls"
	cmd.ExtraFiles = []*os.File{file}
	cmd.Dir, cmd.Stdout, cmd.Stderr = home, &out, &errs
	cmd.Env = []string{"HOME=" + home, "XCSH_LS_NO_DETECT=1", "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0"}
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	_ = cmd.Run() // the exit code is the result
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
