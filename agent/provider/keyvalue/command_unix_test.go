//go:build unix

package keyvalue_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider/keyvalue"
)

// runs returns how often a command that appends to the file "runs" in dir was run.
func runs(t *testing.T, dir string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, "runs"))
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	return len(content)
}

func TestOutputIsKept(t *testing.T) {
	t.Parallel()
	c := &keyvalue.Commands{Dir: t.TempDir()}
	const command = `printf x >> runs; echo "  the-key "; echo secret >&2; cat`
	_, known, err := c.Known(command)
	require.False(t, known)
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			key, err := c.Output(t.Context(), command)
			if err != nil || key != "the-key" {
				t.Errorf("%q %v", key, err)
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, runs(t, c.Dir))
	key, known, err := c.Known(command)
	require.True(t, known)
	require.NoError(t, err)
	require.Equal(t, "the-key", key)
}

func TestFailuresAreKeptForAMinute(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	start := time.Now()
	c := &keyvalue.Commands{Dir: t.TempDir(), Now: func() time.Time { return start.Add(time.Duration(passed.Load())) }}
	const command = `printf x >> runs; echo the-secret; echo the-secret >&2; exit 3`
	for range 3 {
		_, err := c.Output(t.Context(), command)
		require.EqualError(t, err, "exit status 3")
	}
	_, known, err := c.Known(command)
	require.True(t, known)
	require.EqualError(t, err, "exit status 3")
	require.Equal(t, 1, runs(t, c.Dir))
	passed.Store(int64(61 * time.Second))
	_, known, _ = c.Known(command)
	require.False(t, known)
	_, err = c.Output(t.Context(), command)
	require.Error(t, err)
	require.Equal(t, 2, runs(t, c.Dir))
}

func TestFailures(t *testing.T) {
	t.Parallel()
	c := &keyvalue.Commands{Dir: t.TempDir()}
	for command, want := range map[string]string{
		"true": "it printed nothing", "echo ' '": "it printed nothing", "no-such-program-at-all": "exit status 127",
		"kill -9 $$": "signal: killed", "yes | head -c 100000": "it printed too much",
	} {
		_, err := c.Output(t.Context(), command)
		require.EqualError(t, err, want, command)
	}
	missing := &keyvalue.Commands{Dir: filepath.Join(c.Dir, "missing")}
	_, err := missing.Output(t.Context(), "echo x")
	require.EqualError(t, err, "it could not be started")
}

// At the limit, the whole family of the command ends, also a process in a session of its own.
func TestTheFamilyEndsAtTheLimit(t *testing.T) {
	t.Parallel()
	c := &keyvalue.Commands{Dir: t.TempDir(), Limit: 300 * time.Millisecond}
	_, err := c.Output(t.Context(), `sleep 1000 & echo $! > child; (setsid sh -c 'echo $$ > own; sleep 1000' || sleep 1000) & trap "" TERM; while :; do sleep 1; done`)
	require.EqualError(t, err, "it did not end within 300ms")
	for _, name := range []string{"child", "own"} {
		content, err := os.ReadFile(filepath.Join(c.Dir, name))
		if os.IsNotExist(err) {
			continue // a slow machine, or one without setsid
		}
		require.NoError(t, err)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(content))); err == nil {
			require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, 30*time.Second, time.Millisecond)
		}
	}
}

// A command that is still awaited by others goes on when one caller leaves.
func TestACallerLeaves(t *testing.T) {
	t.Parallel()
	c := &keyvalue.Commands{Dir: t.TempDir()}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	const command = `until [ -e go ]; do sleep 0.01; done; echo key`
	_, err := c.Output(ctx, command)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o600))
	key, err := c.Output(t.Context(), command)
	require.NoError(t, err)
	require.Equal(t, "key", key)
}
