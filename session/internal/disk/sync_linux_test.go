package disk_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// TestSyncDataAsksTheKernel uses that the kernel refuses to synchronize a pipe.
// Proves: X-106
func TestSyncDataAsksTheKernel(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	require.ErrorIs(t, disk.SyncData(w), syscall.EINVAL)

	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	require.NoError(t, disk.SyncData(f))
	require.NoError(t, f.Close())
	require.Error(t, disk.SyncData(f))
}
