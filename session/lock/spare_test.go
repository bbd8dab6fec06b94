package lock

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// spareStorage is a directory on disk whose files can have second names, with a directory for sessions. linked counts the locks
// that were made of a spare.
func spareStorage(t *testing.T, p *player) (base afero.Fs, linked *int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no second names")
	}
	dir := t.TempDir()
	base = afero.NewBasePathFs(afero.NewOsFs(), dir)
	require.NoError(t, base.MkdirAll("/s", 0o755))
	linked = new(int)
	p.link = func(from, to string) error {
		err := os.Link(filepath.Join(dir, from), filepath.Join(dir, to))
		if err == nil {
			*linked++
		}
		return err
	}
	return base, linked
}

// spares returns the names of the spares.
func spares(t *testing.T, fs afero.Fs) (names []string) {
	t.Helper()
	files, err := afero.ReadDir(fs, locksDir)
	require.NoError(t, err)
	for _, f := range files {
		if isSpare(f.Name()) {
			names = append(names, f.Name())
		}
	}
	return names
}

// While a session is open, one file becomes every publish lock. It is gone with the session.
func TestASpareIsThePublishLockOfAnOpenSession(t *testing.T) {
	t.Parallel()
	p := newPlayer(123)
	fs, linked := spareStorage(t, p)
	l := New(fs, p.Options)
	s, err := l.OpenSession(locksDir, lockedID, lockedFile)
	require.NoError(t, err)
	for n := range 3 {
		unlock, err := l.Publish(lockedFile)
		require.NoError(t, err)
		require.Equal(t, n+1, *linked)
		content, err := afero.ReadFile(fs, lockedLock)
		require.NoError(t, err)
		require.True(t, p.Process.holds(content), "%q", content)
		require.Regexp(t, `^123:\d{13}\n$`, string(content))
		info, err := fs.Stat(lockedLock)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

		_, err = newPlayer(77).publish(fs)
		require.True(t, fault.Is(err, fault.Busy), "%v", err)
		other, err := l.Publish("/s/y.jsonl") // at the same time
		require.NoError(t, err)
		require.Equal(t, n+1, *linked, "made as a file")
		require.NoError(t, other())
		require.NoError(t, unlock())
		requireNoFile(t, fs, lockedLock)
		require.NoError(t, unlock(), "a second unlock does nothing")
		left := spares(t, fs)
		require.Len(t, left, 1)
		_, stale := l.Stale(filepath.Join(locksDir, left[0]), locksDir)
		require.False(t, stale)
	}
	require.NoError(t, s.Release())
	require.Empty(t, spares(t, fs))
	unlock, err := l.Publish(lockedFile)
	require.NoError(t, err)
	require.Equal(t, 3, *linked)
	require.NoError(t, unlock())
	require.Empty(t, spares(t, fs))
}

// The numbers of a content may become shorter, when the clock is set back.
func TestTheContentOfASpareIsReplaced(t *testing.T) {
	t.Parallel()
	p := newPlayer(123)
	fs, linked := spareStorage(t, p)
	l := New(fs, p.Options)
	_, err := l.OpenSession(locksDir, lockedID, lockedFile)
	require.NoError(t, err)
	for _, at := range []int64{1700000000000, 5} {
		p.mu.Lock()
		p.clock = time.UnixMilli(at)
		p.Process.last = 0
		p.mu.Unlock()
		unlock, err := l.Publish(lockedFile)
		require.NoError(t, err)
		content, err := afero.ReadFile(fs, lockedLock)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("123:%d\n", at), string(content))
		require.NoError(t, unlock())
	}
	require.Equal(t, 2, *linked)
}

// A lock that another program removed and made again is not removed, although the spare lives on.
// Proves: X-116
func TestASpareThatWasTakenAwayIsStale(t *testing.T) {
	t.Parallel()
	p := newPlayer(123)
	fs, linked := spareStorage(t, p)
	l := New(fs, p.Options)
	_, err := l.OpenSession(locksDir, lockedID, lockedFile)
	require.NoError(t, err)
	for _, theirs := range []string{"", "77:1\n"} {
		unlock, err := l.Publish(lockedFile)
		require.NoError(t, err)
		require.NoError(t, fs.Remove(lockedLock))
		if theirs != "" {
			write(t, fs, lockedLock, theirs, 0)
		}
		require.True(t, fault.Is(unlock(), fault.Stale))
		if theirs != "" {
			content, err := afero.ReadFile(fs, lockedLock)
			require.NoError(t, err)
			require.Equal(t, theirs, string(content))
			require.NoError(t, fs.Remove(lockedLock))
		}
	}
	unlock, err := l.Publish(lockedFile)
	require.NoError(t, err)
	require.Equal(t, 3, *linked)
	require.NoError(t, unlock())
}

// Without second names, across file systems, and after a spare was removed, locks are made as files.
func TestLocksWithoutASpare(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]error{"across file systems": syscall.EXDEV, "no second names": syscall.EPERM, "too many names": syscall.EMLINK} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlayer(123)
			fs, _ := spareStorage(t, p)
			tried := 0
			p.link = func(string, string) error { tried++; return broken }
			l := New(fs, p.Options)
			_, err := l.OpenSession(locksDir, lockedID, lockedFile)
			require.NoError(t, err)
			for range 10 {
				unlock, err := l.Publish(lockedFile)
				require.NoError(t, err)
				require.NoError(t, unlock())
				requireNoFile(t, fs, lockedLock)
			}
			require.Equal(t, maxSpares, tried)
			require.Empty(t, spares(t, fs))
		})
	}
	t.Run("removed by hand", func(t *testing.T) {
		t.Parallel()
		p := newPlayer(123)
		fs, linked := spareStorage(t, p)
		l := New(fs, p.Options)
		_, err := l.OpenSession(locksDir, lockedID, lockedFile)
		require.NoError(t, err)
		for range 3 {
			unlock, err := l.Publish(lockedFile)
			require.NoError(t, err)
			require.NoError(t, unlock())
			for _, name := range spares(t, fs) {
				require.NoError(t, fs.Remove(filepath.Join(locksDir, name)))
			}
		}
		require.Equal(t, 2, *linked)
	})
}

// What a killed process leaves is taken over: the lock by the next writer, the spare when left files are removed.
func TestWhatAKilledProcessLeavesOfASpare(t *testing.T) {
	t.Parallel()
	killed := newPlayer(gonePID)
	fs, _ := spareStorage(t, killed)
	l := New(fs, killed.Options)
	_, err := l.OpenSession(locksDir, lockedID, lockedFile)
	require.NoError(t, err)
	_, err = l.Publish(lockedFile)
	require.NoError(t, err)

	p := newPlayer(123)
	unlock, err := p.publish(fs)
	require.NoError(t, err)
	require.Zero(t, p.waits)
	require.NoError(t, unlock())
	left := spares(t, fs)
	require.Len(t, left, 1)
	path := filepath.Join(locksDir, left[0])
	require.True(t, New(fs, p.Options).IsLock(path, locksDir))
	stale, ok := New(fs, p.Options).Stale(path, locksDir)
	require.True(t, ok)
	removed, err := stale.Remove()
	require.NoError(t, err)
	require.True(t, removed)
	require.Empty(t, spares(t, fs))

	living := newPlayer(77)
	require.NoError(t, afero.WriteFile(fs, path, []byte("77:1\n"), 0o600))
	_, ok = New(fs, living.Options).Stale(path, locksDir)
	require.True(t, ok, "of an earlier process with our pid")
	_, ok = New(fs, p.Options).Stale(path, locksDir)
	require.False(t, ok, "of a living process")
}

// Whatever fails while a lock is made of a spare or given up, there is one owner, and the next one gets the lock.
func TestFaultsOfASpare(t *testing.T) {
	t.Parallel()
	for mode := st.Once; mode <= st.Short; mode++ {
		t.Run(fmt.Sprintf("mode %d", mode), func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				p := newPlayer(1)
				base, _ := spareStorage(t, p)
				fs := &st.FaultFs{Fs: base, At: at, Mode: mode}
				l := New(fs, p.Options)
				s, err := l.OpenSession(locksDir, lockedID, lockedFile)
				if err == nil {
					publishSpareWithFaults(t, l, base, at)
					_ = s.Release()
				}
				require.Empty(t, p.Process.gates)
				next := newPlayer(2)
				next.Alive = func(pid int) bool { return pid == 2 }
				next.clock = time.Now().Add(time.Minute)
				unlock, err := next.publish(base)
				require.NoError(t, err, "fault at %d", at)
				require.NoError(t, unlock())
				if !fs.Fired() {
					break
				}
			}
		})
	}
}

func publishSpareWithFaults(t *testing.T, l *Locker, base afero.Fs, at int) {
	t.Helper()
	for range 2 {
		unlock, err := l.Publish(lockedFile)
		if err != nil {
			require.ErrorIs(t, err, st.ErrInjected, "fault at %d", at)
			continue
		}
		_, err = newPlayer(2).publish(base)
		require.True(t, fault.Is(err, fault.Busy), "fault at %d: %v", at, err)
		if err := unlock(); err != nil {
			require.ErrorIs(t, err, st.ErrInjected, "fault at %d", at)
		}
	}
}

// Goroutines of one process that write to several sessions, of which one at a time has the spare.
func TestOneSpareAndManySessions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no second names")
	}
	dir := t.TempDir()
	fs := afero.NewOsFs()
	l := New(fs, Options{Process: &Process{}})
	var wg sync.WaitGroup
	owners := make([]int, 4)
	for n := range 8 {
		path := filepath.Join(dir, fmt.Sprintf("%d.jsonl", n%len(owners)))
		s, err := l.OpenSession(filepath.Join(dir, "locks"), fmt.Sprint(n), path)
		require.NoError(t, err)
		wg.Go(func() {
			for range 50 {
				unlock, err := l.Publish(path)
				if err != nil {
					t.Error(err)
					return
				}
				owners[n%len(owners)]++
				if err := unlock(); err != nil {
					t.Error(err)
				}
			}
			if err := s.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, []int{100, 100, 100, 100}, owners)
	left, err := filepath.Glob(filepath.Join(dir, "*", ".*"))
	require.NoError(t, err)
	hidden, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Empty(t, strings.Join(append(left, hidden...), " "))
}
