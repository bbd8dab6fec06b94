package lock

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The tests of this file run the test binary again as other processes: this variable
// selects the role and is followed by a directory as argument.
const helperVariable = "XCSH_LS_LOCK_HELPER"

func TestHelperProcess(*testing.T) {
	role := os.Getenv(helperVariable)
	if role == "" {
		return // this is not a test but the other process of some
	}
	if err := help(role, os.Args[len(os.Args)-1]); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func help(role, dir string) error {
	switch role {
	case "count":
		return countUp(dir, 50)
	case "count and crash":
		if err := countUp(dir, 5); err != nil {
			return err
		}
		_, err := publishAtLast(New(afero.NewOsFs(), Options{}), filepath.Join(dir, "x.jsonl"))
		return err // and the process ends with the lock
	case "publish":
		if _, err := New(afero.NewOsFs(), Options{}).Publish(filepath.Join(dir, "x.jsonl")); err != nil {
			return err
		}
	case "open":
		switch _, err := acquireSession(afero.NewOsFs(), dir, lockedID, "x", Options{}); {
		case fault.Is(err, fault.Busy):
			fmt.Println("busy")
			return nil
		case err != nil:
			return err
		}
	}
	fmt.Println("held")
	_, err := io.Copy(io.Discard, os.Stdin) // until we are killed or released
	return err
}

func publishAtLast(l *Locker, path string) (unlock func() error, err error) {
	for {
		if unlock, err = l.Publish(path); !fault.Is(err, fault.Busy) {
			return unlock, err
		}
	}
}

// countUp adds n to the number in a file, in steps of one that any process that does not
// wait for the lock would spoil.
func countUp(dir string, n int) error {
	path, l := filepath.Join(dir, "x.jsonl"), New(afero.NewOsFs(), Options{})
	for range n {
		unlock, err := publishAtLast(l, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		was, _ := strconv.Atoi(string(b))
		if err := errors.Join(os.WriteFile(path, []byte(strconv.Itoa(was+1)), 0o600), unlock()); err != nil {
			return err
		}
	}
	return nil
}

func helperCommand(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelperProcess$", dir)
	// The race detector would keep a process that ends, and its locks, for a second.
	cmd.Env = append(os.Environ(), helperVariable+"="+role, "GORACE=atexit_sleep_ms=0")
	return cmd
}

// helper starts another process. line returns its next line of output.
func helper(t *testing.T, role, dir string) (cmd *exec.Cmd, stdin io.Closer, line func() string) {
	t.Helper()
	cmd = helperCommand(t, role, dir)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	r := bufio.NewReader(out)
	return cmd, in, func() string {
		s, _ := r.ReadString('\n')
		return strings.TrimSpace(s)
	}
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
}

// together runs roles in processes of their own, each role rounds times in a row.
func together(t *testing.T, role, dir string, processes, rounds int) {
	t.Helper()
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			for range rounds {
				out, err := helperCommand(t, role, dir).CombinedOutput()
				assert.NoError(t, err, string(out))
			}
		})
	}
	all.Wait()
}

func requireCount(t *testing.T, dir string, want int) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "x.jsonl"))
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(want), string(b))
}

// Proves: X-116
func TestProcessesCountTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	together(t, "count", dir, 4, 1)
	requireCount(t, dir, 200)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no lock is left")
}

func TestProcessesCountTogetherAlthoughTheyCrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	together(t, "count and crash", dir, 4, 5)
	requireCount(t, dir, 4*5*5)
	unlock, err := New(afero.NewOsFs(), Options{}).Publish(filepath.Join(dir, "x.jsonl"))
	require.NoError(t, err)
	require.NoError(t, unlock())
}

func TestAKilledHoldersPublishLockIsHadAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.jsonl")
	cmd, _, line := helper(t, "publish", dir)
	require.Equal(t, "held", line())
	_, err := New(afero.NewOsFs(), Options{}).Publish(path)
	require.True(t, fault.Is(err, fault.Busy), "%v", err)
	require.Equal(t, cmd.Process.Pid, faultData(t, err)["pid"])

	kill(t, cmd)
	next := newPlayer(os.Getpid())
	next.Alive = Alive
	unlock, err := New(afero.NewOsFs(), next.Options).Publish(path)
	require.NoError(t, err)
	require.Zero(t, next.waits)
	require.NoError(t, unlock())
}

// Proves: AB-072
func TestAKilledOwnersSessionIsTakenOverByOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, _, line := helper(t, "open", dir)
	require.Equal(t, "held", line())
	owner, ok := sessionOwner(afero.NewOsFs(), dir, lockedID, Options{})
	require.True(t, ok)
	require.Equal(t, first.Process.Pid, owner.PID)
	require.WithinDuration(t, time.Now(), owner.Since, time.Minute)
	for range 5 {
		kill(t, first)
		_, ok := sessionOwner(afero.NewOsFs(), dir, lockedID, Options{})
		require.False(t, ok, "nobody who lives")
		first = openTogether(t, dir, 4)
	}
	kill(t, first)
	lock, err := acquireSession(afero.NewOsFs(), dir, lockedID, "x", Options{})
	require.NoError(t, err)
	require.NoError(t, lock.Release())
}

// openTogether lets n processes open a session at the same time and returns the one that
// got it.
func openTogether(t *testing.T, dir string, n int) (winner *exec.Cmd) {
	t.Helper()
	var cmds []*exec.Cmd
	var lines []func() string
	for range n {
		cmd, _, line := helper(t, "open", dir)
		cmds, lines = append(cmds, cmd), append(lines, line)
	}
	held := 0
	for i, cmd := range cmds {
		switch said := lines[i](); said {
		case "held":
			held++
			winner = cmd
		default:
			require.Equal(t, "busy", said)
			require.NoError(t, cmd.Wait())
		}
	}
	require.Equal(t, 1, held)
	return winner
}

func TestAlive(t *testing.T) {
	t.Parallel()
	require.True(t, Alive(os.Getpid()))
	cmd, stdin, line := helper(t, "open", t.TempDir())
	require.Equal(t, "held", line())
	require.True(t, Alive(cmd.Process.Pid))
	started := processStarted(cmd.Process.Pid)
	require.Equal(t, started, processStarted(cmd.Process.Pid))
	require.NoError(t, stdin.Close())
	switch runtime.GOOS {
	case "darwin", "windows":
		require.NotEmpty(t, started)
		require.NotEqual(t, started, processStarted(os.Getpid()), "it started later")
	case "linux": // where the time has a resolution of 10 ms
		require.NotEmpty(t, started)
		require.NotEqual(t, started, processStarted(1))
		require.True(t, Alive(1), "also when it is another person's")
		require.Eventually(t, func() bool { return !Alive(cmd.Process.Pid) }, 20*time.Second, time.Millisecond,
			"a process that ended counts as gone before its parent asked for it")
	}
	require.NoError(t, cmd.Wait())
	require.False(t, Alive(cmd.Process.Pid))
	require.Empty(t, processStarted(cmd.Process.Pid))
}
