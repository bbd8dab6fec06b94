// Package sessiontest holds the shared helpers for tests of session files: the two kinds of
// storage, one that fails on command, and builders of session lines.
package sessiontest

import (
	"testing"

	"github.com/spf13/afero"
)

// RunStorage runs a test on memory and on the real file system. Both begin empty;
// paths are absolute on either.
func RunStorage(t *testing.T, test func(t *testing.T, fs afero.Fs)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		test(t, afero.NewMemMapFs())
	})
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		test(t, afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()))
	})
}
