//go:build unix

package consent_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
)

// A file that another user may have written is no decision of this one.
func TestOthersDecideNothing(t *testing.T) {
	t.Parallel()
	fsys := afero.NewOsFs()
	f := consent.File{Fs: fsys, Dir: t.TempDir(), Locks: lock.New(fsys, lock.Options{})}
	require.NoError(t, f.Change(consent.SetProject(web, agreed)))
	require.NoError(t, os.Chmod(f.Path(), 0o666))
	d, err := f.Read()
	require.Equal(t, fault.Denied, fault.KindOf(err))
	require.Empty(t, d)
	require.Error(t, f.Change(consent.SetStore("x", "")))
	require.NoError(t, os.Chmod(f.Path(), 0o600))
	_, err = f.Read()
	require.NoError(t, err)
	left, err := os.ReadDir(filepath.Dir(f.Path()))
	require.NoError(t, err)
	require.Len(t, left, 1)
}
