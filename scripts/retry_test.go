//go:build unix

// Package scripts tests the shell functions of this directory.
package scripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// retry runs a command that fails so many times before it succeeds, and returns how often it ran.
func retry(t *testing.T, failures string) (runs int, err error) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	script := `. ./retry.sh; attempt() { echo run >>"$LOG"; [ "$(wc -l <"$LOG")" -gt "$FAILURES" ]; }; retry attempt`
	cmd := exec.CommandContext(t.Context(), "bash", "-euc", script)
	cmd.Env = append(os.Environ(), "RETRY_PAUSES=0 0 0", "LOG="+log, "FAILURES="+failures)
	err = cmd.Run()
	lines, readErr := os.ReadFile(log)
	require.NoError(t, readErr)
	return strings.Count(string(lines), "run"), err
}

func TestRetryStopsAtTheFirstSuccess(t *testing.T) {
	t.Parallel()
	runs, err := retry(t, "0")
	require.NoError(t, err)
	require.Equal(t, 1, runs)
	runs, err = retry(t, "3")
	require.NoError(t, err)
	require.Equal(t, 4, runs)
}

func TestRetryGivesUp(t *testing.T) {
	t.Parallel()
	runs, err := retry(t, "9")
	require.Error(t, err)
	require.Equal(t, 4, runs)
}
