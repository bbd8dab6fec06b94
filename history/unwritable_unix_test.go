//go:build unix

package history_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A user without write permission, in a directory without a database or with one, is warned once.
// Proves: F-32
func TestAReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	for _, existing := range []bool{false, true} {
		dir, err := os.MkdirTemp(os.TempDir(), "history") //nolint:usetesting // others must be able to enter it
		require.NoError(t, err)
		t.Cleanup(func() {
			_ = os.Chmod(dir, 0o700)
			_ = os.RemoveAll(dir)
		})
		path := filepath.Join(dir, "history.db")
		if existing {
			w := open(t, path)
			w.say("x")
			w.flush(t)
			require.NoError(t, w.Close(t.Context()))
			require.NoError(t, os.Chmod(path, 0o444))
		}
		require.NoError(t, os.Chmod(dir, 0o555))
		cmd := child(t, "unwritable", path, "")
		if os.Getuid() == 0 { // root may write everywhere
			cmd.Path = "/proc/self/exe"
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			cmd.Dir = dir
		}
		out, err := cmd.Output()
		require.NoError(t, err)
		number, text, _ := strings.Cut(string(out), " ")
		count, err := strconv.Atoi(number)
		require.NoError(t, err)
		require.Equal(t, 1, count, text)
		require.Contains(t, text, path)
		require.NotContains(t, text, "damaged")
		require.NotContains(t, text, "\n\n")
	}
}
