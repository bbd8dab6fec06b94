//go:build unix

package child_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/child"
	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
)

// A child that stays is ended in steps.
// Proves: EF-17
func TestAChildThatStaysIsEnded(t *testing.T) {
	t.Parallel()
	for does, signal := range map[string]string{
		"stays": "terminated", "deaf": "terminated", "stubborn": "killed", "stopped": "killed", "cleans": "",
	} {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			cfg := config(t, does)
			cfg.InputGrace, cfg.TermGrace = 100*time.Millisecond, 200*time.Millisecond
			c := start(t, cfg)
			require.Equal(t, "ready", line(t, c))
			require.NoError(t, c.Close(t.Context()))
			if signal == "" {
				require.Equal(t, child.Exit{Code: 143}, c.Exit())
				return
			}
			require.Equal(t, child.Exit{Code: -1, Signal: signal}, c.Exit())
			require.Equal(t, "was ended by a signal: "+signal, c.Exit().String())
			gone(t, c.Pid())
		})
	}
}

// The end of the context of Close ends the child at once.
func TestCloseDoesNotOutliveItsContext(t *testing.T) {
	t.Parallel()
	cfg := config(t, "stubborn")
	cfg.InputGrace = time.Hour
	c := start(t, cfg)
	require.Equal(t, "ready", line(t, c))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, c.Close(ctx))
	require.Equal(t, "killed", c.Exit().Signal)
}

// hiders are scripts of a child that start a process that leaves it in some way. They print its id.
var hiders = map[string]string{
	"a child":             `sleep 1000 & echo $!; wait`,
	"a group":             `set -m; sleep 1000 & echo $!; wait`,
	"a session":           `setsid sh -c 'echo $$; exec sleep 1000'`,
	"a double fork":       `(setsid sh -c 'echo $$; trap "" HUP TERM; while :; do sleep 1000; done' &) ; while :; do sleep 1000; done`,
	"ignored signals":     `trap '' TERM INT HUP; echo $$; while :; do sleep 1000; done`,
	"a stopped one":       `sh -c 'echo $$; kill -STOP $$'`,
	"one that multiplies": `trap '' TERM; echo $$; while :; do setsid sleep 1000; done`,
	"without output":      `setsid sh -c 'echo $$; exec sleep 1000 >/dev/null 2>&1 </dev/null'; wait`,
}

// Descendants end with a child that is closed, and with one that is killed from outside.
// Proves: EF-17, EF-19
func TestDescendantsEndWithTheChild(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *child.Child){
		"closed": func(t *testing.T, c *child.Child) { require.NoError(t, c.Close(t.Context())) },
		"killed": func(t *testing.T, c *child.Child) { require.NoError(t, c.Kill()) },
		"killed from outside": func(t *testing.T, c *child.Child) {
			require.NoError(t, syscall.Kill(c.Pid(), syscall.SIGKILL))
		},
	} {
		for hider, script := range hiders {
			t.Run(name+"/"+hider, func(t *testing.T) {
				t.Parallel()
				cfg := config(t, "shell "+script)
				cfg.InputGrace, cfg.TermGrace = 50*time.Millisecond, 50*time.Millisecond
				c := start(t, cfg)
				pid, err := strconv.Atoi(line(t, c))
				require.NoError(t, err)
				require.NoError(t, syscall.Kill(pid, 0))
				end(t, c)
				exit := ended(t, c)
				require.Empty(t, exit.Left)
				gone(t, pid)
				noLine(t, c)
			})
		}
	}
}

// A process that outlives the child in the background ends too, and keeps neither the output open nor a line back.
func TestABackgroundProcessEndsWithTheChild(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, `shell setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.2`))
	pid, err := strconv.Atoi(line(t, c))
	require.NoError(t, err)
	require.Equal(t, child.Exit{}, ended(t, c))
	gone(t, pid)
}

// Processes that the child did not start live on.
func TestOtherProcessesLiveOn(t *testing.T) {
	t.Parallel()
	other := start(t, config(t, "echo"))
	c := start(t, config(t, "shell sleep 1000 & echo ready; wait"))
	require.Equal(t, "ready", line(t, c))
	require.NoError(t, c.Kill())
	ended(t, c)
	require.NoError(t, other.Write(t.Context(), []byte("alive")))
	require.Equal(t, "alive", line(t, other))
}

// The environment is the given one, and nothing of this process.
func TestTheEnvironmentIsComplete(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{nil, {"A=b"}} {
		c, err := child.Start(t.Context(), child.Config{Path: "/usr/bin/env", Env: env, Dir: t.TempDir()})
		require.NoError(t, err)
		var got []string
		for l := range c.Lines() {
			if !strings.HasPrefix(string(l), "PROCESS_FAMILY=") && !strings.HasPrefix(string(l), "PWD=") {
				got = append(got, string(l))
			}
		}
		require.Equal(t, env, got)
		require.Equal(t, child.Exit{}, ended(t, c))
	}
}

// A signal of the terminal of this process is not one of the child: it has a session of its own.
func TestAChildHasItsOwnSession(t *testing.T) {
	t.Parallel()
	c := start(t, config(t, "echo"))
	group, err := syscall.Getpgid(c.Pid())
	require.NoError(t, err)
	require.Equal(t, c.Pid(), group)
	require.NotEqual(t, syscall.Getpgrp(), group)
}

// gone waits until a process is gone. It is an orphan, which the system's first process waits for in its own time.
func gone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH || isZombie(t, pid) }, limit, time.Millisecond)
}

func isZombie(t *testing.T, pid int) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

// The child of a process that is killed reads the end of its input.
// Proves: EF-21
func TestAChildEndsWithAKilledHost(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	server := exec.CommandContext(t.Context(), self)
	server.Env = append(os.Environ(), actorName+"=server")
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	in, err := server.StdinPipe()
	require.NoError(t, err)
	defer in.Close()
	require.NoError(t, server.Start())
	text := make([]byte, 32)
	n, err := out.Read(text)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, 0))
	require.NoError(t, server.Process.Kill())
	_ = server.Wait() // it was killed
	gone(t, pid)
}

// Nothing is left of children, whichever way they end. Not parallel: it inspects the whole process.
func TestNothingIsLeft(t *testing.T) {
	end := leaktest.Begin(t)
	open := descriptors(t)
	for range 5 {
		for _, does := range []string{"echo", "exit 1", "lines 100000", "endless", "half", "deaf", "flood 10"} {
			cfg := config(t, does)
			cfg.MaxLine, cfg.InputGrace, cfg.TermGrace = 1<<20, 10*time.Millisecond, 10*time.Millisecond
			c, err := child.Start(t.Context(), cfg)
			require.NoError(t, err)
			require.NoError(t, c.Close(t.Context()))
			ended(t, c)
		}
		_, err := child.Start(t.Context(), child.Config{Path: filepath.Join(t.TempDir(), "none"), Dir: t.TempDir()})
		require.Error(t, err)
	}
	end()
	require.LessOrEqual(t, descriptors(t), open)
	require.Empty(t, zombies(t))
}

// descriptors counts those of this process.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/dev/fd")
	require.NoError(t, err)
	return len(list)
}

// zombies returns the children of this process that were not waited for.
func zombies(t *testing.T) (pids []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-axo", "pid=,ppid=,stat=").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) > 2 && f[1] == strconv.Itoa(os.Getpid()) && strings.HasPrefix(f[2], "Z") {
			pids = append(pids, f[0])
		}
	}
	return pids
}
