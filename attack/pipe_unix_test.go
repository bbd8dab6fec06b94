//go:build unix

package attack

import (
	"bytes"
	"context"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// pipe creates a named pipe without a writer.
func pipe(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, syscall.Mkfifo(path, 0o600))
}

// limited runs the program with a limit on its memory.
func (v *victim) limited(args ...string) outcome {
	v.t.Helper()
	plain := v.command(args...)
	const limit = "ulimit -v 3000000; exec \"$0\" \"$@\"" // in KiB; Go reserves a lot and uses little
	ctx, cancel := context.WithTimeout(v.t.Context(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limit, program}, args...)...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = plain.Dir, plain.Env, &out, &errs
	_ = cmd.Run() // the exit code is the result
	return outcome{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}
