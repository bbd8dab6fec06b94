//go:build unix

package intake_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// None of these has an end, and a pipe without a writer does not even have a beginning.
func TestEndlessFilesAreRefused(t *testing.T) {
	dir := folder(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	link(t, "pipe", filepath.Join(dir, "to-pipe"))
	link(t, "/dev/zero", filepath.Join(dir, "zero"))
	for _, name := range []string{"pipe", "to-pipe", "zero"} {
		_, err := intake.ReadBelow(afero.NewOsFs(), dir, name, 100)
		require.Error(t, err, name)
		_, err = intake.Read(afero.NewOsFs(), filepath.Join(dir, name), 100)
		require.ErrorContains(t, err, "it is a pipe, a socket or a device", name)
	}
	_, err := intake.Read(afero.NewReadOnlyFs(afero.NewOsFs()), filepath.Join(dir, "pipe"), 100)
	require.ErrorContains(t, err, "it is a pipe, a socket or a device")
}

func TestForeign(t *testing.T) {
	path := filepath.Join(folder(t), "file")
	for mode, foreign := range map[os.FileMode]bool{0o600: false, 0o644: false, 0o646: true, 0o666: true} {
		require.NoError(t, os.Chmod(path, mode))
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, foreign, intake.Foreign(info), mode)
		assert.False(t, intake.ForeignOwner(info))
	}
	require.NoError(t, os.Chmod(path, 0o600))
	if os.Chown(path, 12345, -1) != nil {
		return // only the administrator can change a file's owner
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, intake.Foreign(info))
	assert.False(t, intake.Foreign(info, 12345))
	owner, known := intake.Owner(info)
	assert.True(t, known)
	assert.Equal(t, 12345, owner)
}
