package spool_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/spool"
)

const mib = 1 << 20

// files returns the names of all files of fs.
func files(t *testing.T, fs afero.Fs) (names []string) {
	t.Helper()
	infos, _ := afero.ReadDir(fs, os.TempDir()) // in memory it may not exist
	for _, info := range infos {
		names = append(names, filepath.Join(os.TempDir(), info.Name()))
	}
	return names
}

// A text of any length is what was written, each time it is read. No file is left.
func TestATextIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, mib - 1, mib, mib + 1, 5*mib + 3} {
		for _, piece := range []int{7 << 10, 64 << 10, 3 * mib} {
			fs := afero.NewMemMapFs()
			want := bytes.Repeat([]byte("0123456789\n"), size/11+1)[:size]
			s := spool.New(fs)
			for at := 0; at < size; at += piece {
				n, err := s.Write(want[at:min(size, at+piece)])
				require.NoError(t, err)
				require.Equal(t, min(size-at, piece), n)
			}
			require.EqualValues(t, size, s.Len())
			for range 2 {
				var got bytes.Buffer
				n, err := s.WriteTo(&got)
				require.NoError(t, err)
				require.EqualValues(t, size, n)
				require.True(t, bytes.Equal(want, got.Bytes()))
			}
			require.NoError(t, s.Close())
			require.NoError(t, s.Close(), "again")
			require.Empty(t, files(t, fs))
		}
	}
}

// On a disk, the file is readable by the user only, and goes even if it could not be removed while it was open.
func TestTheFileIsPrivateAndGoes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the temporary directory has a drive, which can't be in another directory, and files have no modes")
	}
	disk := &keeping{Fs: afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())}
	require.NoError(t, disk.MkdirAll(os.TempDir(), 0o700))
	s := spool.New(disk)
	_, err := s.Write(make([]byte, 2*mib))
	require.NoError(t, err)
	names := files(t, disk)
	require.Len(t, names, 1)
	info, err := disk.Stat(names[0])
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
	require.NoError(t, s.Close())
	require.Empty(t, files(t, disk))
}

// keeping is a file system that doesn't remove open files, as on Windows.
type keeping struct {
	afero.Fs
	tried bool
}

func (k *keeping) Remove(name string) error {
	if !k.tried {
		k.tried = true
		return os.ErrPermission
	}
	return k.Fs.Remove(name)
}

// Whichever step fails, the writer gets the error, and no file is left that could be removed.
func TestFaultsOfTheFile(t *testing.T) {
	t.Parallel()
	for at := 1; ; at++ {
		fs := &sessiontest.FaultFs{Fs: afero.NewMemMapFs(), At: at}
		s := spool.New(fs)
		want := strings.Repeat("x", 3*mib)
		_, err := s.Write([]byte(want))
		var got bytes.Buffer
		if err == nil {
			_, err = s.WriteTo(&got)
			require.NoError(t, err, "reading does not fail")
			require.Equal(t, want, got.String(), "fault %d", at)
		} else {
			require.ErrorContains(t, err, "temporary file")
		}
		_ = s.Close()
		require.Empty(t, files(t, fs.Fs), "fault %d", at)
		if !fs.Fired() {
			require.Greater(t, at, 3)
			return
		}
	}
}

// A file that became shorter is an error, and not the end of the text.
func TestAShorterFileIsAnError(t *testing.T) {
	t.Parallel()
	fs := &keeping{Fs: afero.NewMemMapFs()}
	s := spool.New(fs)
	_, err := s.Write(make([]byte, 2*mib))
	require.NoError(t, err)
	f, err := fs.OpenFile(files(t, fs)[0], os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, f.Truncate(10))
	_, err = s.WriteTo(&bytes.Buffer{})
	require.Error(t, err)
	require.NoError(t, s.Close())
}
