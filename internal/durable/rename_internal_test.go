package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// sharing is the error of a rename on Windows of a file that another program has open.
var sharing = &os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.Errno(32)}

// clocked is a policy with a clock that only waits move, and the pauses that it makes.
func clocked(r retry, jitter float64) (retry, *[]time.Duration) {
	clock, pauses := time.UnixMilli(0), &[]time.Duration{}
	r.now = func() time.Time { return clock }
	r.wait = func(d time.Duration) {
		*pauses = append(*pauses, d)
		clock = clock.Add(d)
	}
	r.jitter = func() float64 { return jitter }
	r.again = func(err error) bool { return inUse("windows", err) }
	return r, pauses
}

// A file that another program closes again is renamed, after pauses that grow.
// Proves: F-26
func TestARenameWaitsForOtherPrograms(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	for jitter, want := range map[float64][]time.Duration{
		0:    {5 * ms, 10 * ms, 20 * ms, 40 * ms, 80 * ms, 100 * ms, 100 * ms},
		0.99: {2525 * time.Microsecond, 5050 * time.Microsecond, 10100 * time.Microsecond, 20200 * time.Microsecond, 40400 * time.Microsecond, 50500 * time.Microsecond, 50500 * time.Microsecond},
	} {
		r, pauses := clocked(renaming, jitter)
		attempts := 0
		require.NoError(t, r.do(func() error {
			if attempts++; attempts <= len(want) {
				return sharing
			}
			return nil
		}))
		require.Equal(t, want, *pauses)
	}
}

// A file that stays open is an error after two seconds, the one that the system gave.
// Proves: F-26
func TestARenameGivesUp(t *testing.T) {
	t.Parallel()
	for _, jitter := range []float64{0, 0.5, 0.99} {
		r, pauses := clocked(renaming, jitter)
		require.ErrorIs(t, r.do(func() error { return sharing }), sharing)
		var total time.Duration
		for _, p := range *pauses {
			require.Positive(t, p)
			total += p
		}
		require.Equal(t, 2*time.Second, total)
	}
}

// Attempts that take long themselves count too.
func TestASlowRenameGivesUp(t *testing.T) {
	t.Parallel()
	r, pauses := clocked(renaming, 0)
	attempts := 0
	require.ErrorIs(t, r.do(func() error { attempts++; r.wait(time.Second); return sharing }), sharing)
	require.Equal(t, 2, attempts)
	require.Len(t, *pauses, 3, "two attempts, and a pause between them")
}

// Every other error is reported at once, and on other systems every error.
func TestOtherErrorsOfARenameAreNoReasonToWait(t *testing.T) {
	t.Parallel()
	for _, err := range []error{fs.ErrNotExist, syscall.Errno(2), syscall.Errno(112), errors.New("sharing violation")} {
		r, pauses := clocked(renaming, 0)
		attempts := 0
		require.ErrorIs(t, r.do(func() error { attempts++; return err }), err)
		require.Equal(t, 1, attempts)
		require.Empty(t, *pauses)
	}
	for _, errno := range []syscall.Errno{5, 32, 33} {
		require.True(t, inUse("windows", &fs.PathError{Op: "rename", Path: "a", Err: errno}))
		require.False(t, inUse("linux", errno), "EIO and EPIPE there")
		require.False(t, inUse("darwin", errno))
	}
}

// busyFs fails the first renames.
type busyFs struct {
	afero.Fs
	fails int
	tried int
}

func (b *busyFs) Rename(from, to string) error {
	if b.tried++; b.tried <= b.fails {
		return sharing
	}
	return b.Fs.Rename(from, to)
}

// A write on a Windows where the file is read at the moment succeeds. This test alone changes the policy, so it is
// not parallel.
// Proves: F-26
func TestAWriteSurvivesAReader(t *testing.T) {
	former := renaming
	t.Cleanup(func() { renaming = former })
	r, pauses := clocked(renaming, 0)
	renaming = r
	path := filepath.FromSlash("/dir/file")
	disk := &busyFs{Fs: afero.NewMemMapFs(), fails: 3}
	require.NoError(t, WriteFile(disk, path, []byte("new"), 0o600))
	require.Len(t, *pauses, 3)
	content, err := afero.ReadFile(disk, path)
	require.NoError(t, err)
	require.Equal(t, "new", string(content))
}
