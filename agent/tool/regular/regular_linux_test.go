package regular_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// within fails the test when f blocks.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		require.FailNow(t, "it blocks")
	}
}

func TestIrregularFilesAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo, socket, sub := filepath.Join(dir, "fifo"), filepath.Join(dir, "socket"), filepath.Join(dir, "sub")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	require.NoError(t, os.Mkdir(sub, 0o700))
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	link := func(name, to string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.Symlink(to, path))
		return path
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plain"), []byte("x"), 0o600))
	for path, want := range map[string]string{
		fifo:                               "a named pipe",
		link("to fifo", "fifo"):            "a named pipe",
		socket:                             "a socket",
		"/dev/zero":                        "a device",
		link("to zero", "/dev/zero"):       "a device",
		"/proc/kmsg":                       "procfs",
		"/proc/self/environ":               "procfs",
		"/proc/self/status":                "procfs",
		link("to proc", "/proc/version"):   "procfs",
		link("to self", "/proc/self"):      "a directory",
		dir + "/to self/environ":           "procfs",
		"/proc/self/root/etc/passwd":       "procfs",
		"/proc/self/cwd/regular.go":        "procfs",
		"/proc/self/task/../environ":       "procfs",
		"/sys/kernel/uevent_seqnum":        "sysfs",
		link("to sys", "/sys/power/state"): "sysfs",
	} {
		if _, err := os.Stat(path); err != nil {
			t.Logf("not here: %v", err)
			continue
		}
		within(t, func() {
			_, err := regular.Check(afero.NewOsFs(), path)
			require.ErrorContains(t, err, want, path)
			assert.True(t, fault.Is(err, fault.InvalidArgument), path)
		})
	}
	_, err = regular.Check(afero.NewOsFs(), filepath.Join(dir, "plain"))
	require.NoError(t, err)
}

// A path that changed after it was checked: opening looks again.
func TestOpenChecksTheOpenedFile(t *testing.T) {
	t.Parallel()
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{fifo, "/dev/zero", "/dev/tty", "/proc/self/environ", "/proc/kmsg"} {
		within(t, func() {
			_, err := regular.Open(afero.NewOsFs(), path)
			require.Error(t, err, path)
			_, _, err = regular.Read(t.Context(), afero.NewOsFs(), path, 1<<20)
			require.Error(t, err, path)
			_, err = regular.Dir(t.Context(), afero.NewOsFs(), path)
			require.Error(t, err, path)
		})
	}
	within(t, func() {
		_, err := regular.OpenToWrite(afero.NewOsFs(), fifo)
		require.Error(t, err)
	})
}

func TestAFileToBeMadeInAPseudoFileSystemIsRefused(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/proc/x", "/sys/kernel/x/y", "/proc/self/x"} {
		require.Error(t, regular.Ordinary(afero.NewOsFs(), path), path)
	}
	require.NoError(t, regular.Ordinary(afero.NewOsFs(), filepath.Join(t.TempDir(), "a", "b")))
}

func TestReadIsCancelledBeforeItBegins(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	_, _, err := regular.Read(ctx, afero.NewOsFs(), path, 10)
	require.ErrorIs(t, err, context.Canceled)
}
