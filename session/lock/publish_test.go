package lock

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// The paths that the tests lock. The mtimes of a storage are the real ones, so the fake
// clocks begin at the real time.
const (
	lockedFile  = "/s/x.jsonl"
	lockedLock  = "/s/.x.jsonl.lock"
	lockedClaim = lockedLock + ".claim"
	gonePID     = 999
)

// player is one process of a test: its pid, its clock and its locks.
type player struct {
	Options
	mu      sync.Mutex
	clock   time.Time
	waits   int
	waiting func(n int) // called at each wait; may be nil
}

// newPlayer makes a process. All pids but gonePID live.
func newPlayer(pid int) *player {
	p := &player{clock: time.Now()}
	p.Options = Options{
		PID: pid, host: "here", version: "1.2.3", Process: &Process{},
		Alive:   func(pid int) bool { return pid != gonePID },
		started: func(pid int) string { return fmt.Sprintf("boot:%d", pid) },
		born:    func(int) time.Time { return time.Time{} },
		Now: func() time.Time {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.clock
		},
		Wait: func(_ context.Context, d time.Duration) error {
			p.mu.Lock()
			p.clock = p.clock.Add(d)
			p.waits++
			n := p.waits
			p.mu.Unlock()
			if p.waiting != nil {
				p.waiting(n)
			}
			return nil
		},
	}
	return p
}

func (p *player) publish(fs afero.Fs) (func() error, error) {
	return New(fs, p.Options).Publish(lockedFile)
}

func write(t *testing.T, fs afero.Fs, path, content string, age time.Duration) {
	t.Helper()
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
	at := time.Now().Add(-age)
	require.NoError(t, fs.Chtimes(path, at, at))
}

func requireNoFile(t *testing.T, fs afero.Fs, path string) {
	t.Helper()
	exists, err := afero.Exists(fs, path)
	require.NoError(t, err)
	require.False(t, exists, path)
}

func TestPublishLockIsTheFileOmpTakes(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		require.NoError(t, fs.MkdirAll("/s", 0o755))
		p := newPlayer(123)
		unlock, err := p.publish(fs)
		require.NoError(t, err)
		content, err := afero.ReadFile(fs, lockedLock)
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("123:%d\n", p.Now().UnixMilli()), string(content))
		info, err := fs.Stat(lockedLock)
		require.NoError(t, err)
		if runtime.GOOS != "windows" { // which has no modes
			require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		}

		require.NoError(t, unlock())
		requireNoFile(t, fs, lockedLock)
		require.NoError(t, unlock(), "a second unlock does nothing")
		require.Zero(t, p.waits)
	})
}

func TestPublishLocksThatAreStolen(t *testing.T) {
	t.Parallel()
	const young, old = 100 * time.Millisecond, 10 * time.Minute
	for _, c := range []struct {
		name    string
		content string
		age     time.Duration
		waits   int // before it is had; -1: it never is
		PID     any // that busy names
	}{
		{"a lock whose process is gone is stolen at once", "999:1\n", 0, 0, nil},
		{"a lock without a final newline is read like any other", "999:1", 0, 0, nil},
		{"a lock whose process lives is not stolen, however old it is", "77:1\n", old, -1, 77},
		{"an empty lock is waited for while it is young", "", young, 201, nil},
		{"an empty lock that is old is stolen at once", "", old, 0, nil},
		{"a garbled lock is waited for while it is young", "what?", young, 201, nil},
		{"a garbled lock that is old is stolen at once", "what?", old, 0, nil},
		{"a pid without a time is garbled", "999\n", young, 201, nil},
		{"a negative pid, which would mean a group of processes, is garbled", "-1:1\n", young, 201, nil},
		{"pid zero, which would mean our own group, is garbled", "0:1\n", young, 201, nil},
		{"a pid that is too large for a system is garbled", "4294968295:1\n", young, 201, nil},
		{"our own pid was that of an earlier process when we do not hold it", "123:1\n", 0, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				write(t, fs, lockedLock, c.content, c.age)
				p := newPlayer(123)
				unlock, err := p.publish(fs)
				if c.waits < 0 {
					require.Equal(t, fault.Busy, fault.KindOf(err), "%v", err)
					require.ErrorContains(t, err, lockedFile)
					require.Equal(t, map[string]any{"path": lockedFile, "pid": c.PID}, faultData(t, err))
					require.Equal(t, 250, p.waits, "every 2 ms for 500 ms")
					return
				}
				require.NoError(t, err)
				if c.waits == 0 {
					require.Zero(t, p.waits)
				} else {
					// The file's own time is the real one, hence the tolerance.
					require.InDelta(t, c.waits, p.waits, 50)
				}
				require.NoError(t, unlock())
				requireNoFile(t, fs, lockedLock)
				requireNoFile(t, fs, lockedClaim)
			})
		})
	}
}

func faultData(t *testing.T, err error) map[string]any {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	return f.Data
}

func TestABlankLockThatStaysYoungIsBusyWithoutAPid(t *testing.T) {
	t.Parallel()
	fs, p := afero.NewMemMapFs(), newPlayer(123)
	write(t, fs, lockedLock, "", -time.Hour) // a clock of the storage that is ahead
	_, err := p.publish(fs)
	require.True(t, fault.Is(err, fault.Busy), "%v", err)
	require.Equal(t, map[string]any{"path": lockedFile}, faultData(t, err))
}

// unreadableFs is a file system with files of other users.
type unreadableFs struct{ afero.Fs }

func (unreadableFs) Open(name string) (afero.File, error) {
	return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrPermission}
}

func TestALockThatMayNotBeReadIsBusyWithoutAPid(t *testing.T) {
	t.Parallel()
	fs, p := afero.NewMemMapFs(), newPlayer(123)
	write(t, fs, lockedLock, "999:1\n", time.Hour)
	_, err := p.publish(unreadableFs{fs})
	require.True(t, fault.Is(err, fault.Busy), "%v", err)
	require.Equal(t, map[string]any{"path": lockedFile}, faultData(t, err))
	require.Equal(t, 250, p.waits)
}

func TestPublishLockIsHadWhenItsHolderIsDone(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		require.NoError(t, fs.MkdirAll("/s", 0o755))
		first, second := newPlayer(1), newPlayer(2)
		unlock, err := first.publish(fs)
		require.NoError(t, err)
		second.waiting = func(n int) {
			if n == 100 {
				assert.NoError(t, unlock())
			}
		}
		unlock, err = second.publish(fs)
		require.NoError(t, err)
		require.Equal(t, 100, second.waits)
		require.NoError(t, unlock())
	})
}

func TestAFrozenClockDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	fs, p := afero.NewMemMapFs(), newPlayer(123)
	write(t, fs, lockedLock, "77:1\n", 0)
	p.Options.Now = func() time.Time { return time.Time{} }
	_, err := p.publish(fs)
	require.True(t, fault.Is(err, fault.Busy), "%v", err)
}

func TestGoroutinesWaitForEachOther(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		require.NoError(t, fs.MkdirAll("/s", 0o755))
		p := newPlayer(123)
		locker := New(fs, p.Options)
		n := 0
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 50 {
					unlock, err := locker.Publish(lockedFile)
					if !assert.NoError(t, err) {
						return
					}
					n++ // the race detector is the test
					assert.NoError(t, unlock())
				}
			})
		}
		all.Wait()
		require.Equal(t, 400, n)
		require.Zero(t, p.waits, "nobody polled")
		requireNoFile(t, fs, lockedLock)
		require.Empty(t, p.Process.gates)
		require.Empty(t, p.Process.held)
	})
}

func TestAnotherSpellingOfThePathIsWaitedForToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink(".", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	locker := New(afero.NewOsFs(), newPlayer(123).Options)
	unlock, err := locker.Publish(filepath.Join(dir, "x.jsonl"))
	require.NoError(t, err)
	_, err = locker.Publish(filepath.Join(dir, "link", "x.jsonl")) // it has our pid in it
	require.True(t, fault.Is(err, fault.Busy), "%v", err)
	require.NoError(t, unlock())
}

func TestUnlockingARemovedLockIsStaleAndRemovesNothing(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		require.NoError(t, fs.MkdirAll("/s", 0o755))
		unlock, err := newPlayer(1).publish(fs)
		require.NoError(t, err)
		write(t, fs, lockedLock, "77:1\n", 0)
		require.True(t, fault.Is(unlock(), fault.Stale))
		content, err := afero.ReadFile(fs, lockedLock)
		require.NoError(t, err)
		require.Equal(t, "77:1\n", string(content))
	})
}

func TestPlacesThatCannotBeWrittenAreNotBusy(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	require.NoError(t, base.MkdirAll("/s", 0o755))
	p := newPlayer(1)
	_, err := p.publish(afero.NewReadOnlyFs(base))
	require.True(t, fault.Is(err, fault.ReadOnly), "%v", err)
	require.ErrorContains(t, err, lockedFile)
	_, err = p.publish(&st.FaultFs{Fs: base, At: 1})
	require.True(t, fault.Is(err, fault.IO), "%v", err)
	_, err = p.publish(afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()))
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	require.Zero(t, p.waits)
}

// A creator that stalls half a second between creating its lock and writing it must
// not believe in it.
func TestASlowCreatorStartsOver(t *testing.T) {
	t.Parallel()
	p := newPlayer(1)
	stalls := 0
	fs := &stepFs{Fs: afero.NewMemMapFs(), step: func(op string) {
		if op == "write" && stalls == 0 {
			stalls++
			p.mu.Lock()
			p.clock = p.clock.Add(time.Second)
			p.mu.Unlock()
		}
	}}
	opens := 0
	counting := &stepFs{Fs: fs, step: func(op string) {
		if op == "open" {
			opens++
		}
	}}
	unlock, err := p.publish(counting)
	require.NoError(t, err)
	require.Greater(t, opens, 2, "the first lock was not believed in")
	require.NoError(t, unlock())
	left, err := afero.ReadDir(fs, "/s")
	require.NoError(t, err)
	require.Empty(t, left)
}

// A program that does not use claims may consider a blank lock abandoned.
func TestALockThatAnotherTookWhileItWasMadeIsTheirs(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, base afero.Fs) {
		if runtime.GOOS == "windows" && strings.HasSuffix(t.Name(), "/disk") {
			t.Skip("Windows removes no file that is being written")
		}
		require.NoError(t, base.MkdirAll("/s", 0o755))
		_, err := newPlayer(1).publish(&stepFs{Fs: base, step: func(op string) {
			if op == "write" {
				assert.NoError(t, base.Remove(lockedLock))
				assert.NoError(t, afero.WriteFile(base, lockedLock, []byte("77:1\n"), 0o600))
			}
		}})
		require.True(t, fault.Is(err, fault.Busy), "%v", err)
		require.Equal(t, 77, faultData(t, err)["pid"])
		content, err := afero.ReadFile(base, lockedLock)
		require.NoError(t, err)
		require.Equal(t, "77:1\n", string(content))
	})
}

func TestCrashedTakersAreTakenOverToo(t *testing.T) {
	t.Parallel()
	for crashed := range maxClaims {
		t.Run(fmt.Sprintf("%d takers crashed", crashed), func(t *testing.T) {
			t.Parallel()
			fs, p := afero.NewMemMapFs(), newPlayer(123)
			for i := range crashed + 1 {
				write(t, fs, lockedLock+strings.Repeat(".claim", i), "999:1\n", 0)
			}
			unlock, err := p.publish(fs)
			require.NoError(t, err)
			require.NoError(t, unlock())
			left, err := afero.ReadDir(fs, "/s")
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestFaultsNeverMakeTwoHolders(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", "999:1\n"} {
		for mode := st.Once; mode <= st.Short; mode++ {
			t.Run(fmt.Sprintf("found %q, mode %d", before, mode), func(t *testing.T) {
				t.Parallel()
				st.RunStorage(t, func(t *testing.T, base afero.Fs) {
					for at := 1; ; at++ {
						require.NoError(t, base.RemoveAll("/s"))
						require.NoError(t, base.MkdirAll("/s", 0o755))
						if before != "" {
							write(t, base, lockedLock, before, 0)
						}
						fs := &st.FaultFs{Fs: base, At: at, Mode: mode}
						publishWithFaults(t, fs)
						if !fs.Fired() {
							break
						}
					}
				})
			})
		}
	}
}

// publishWithFaults takes and releases the lock on a storage that fails, and checks it as
// another process, which sees no faults, would.
func publishWithFaults(t *testing.T, fs *st.FaultFs) {
	t.Helper()
	first, second, at := newPlayer(1), newPlayer(2), fmt.Sprintf("fault at %d", fs.At)
	unlock, err := first.publish(fs)
	if err == nil {
		_, err = second.publish(fs.Fs)
		require.True(t, fault.Is(err, fault.Busy), "%s: %v", at, err)
		err = unlock()
		if err == nil {
			requireNoFile(t, fs.Fs, lockedLock)
		}
	}
	if err != nil {
		require.ErrorIs(t, err, st.ErrInjected, at)
	}
	if fs.Fired() && fs.Mode != st.Dead {
		unlock, err := first.publish(fs)
		require.NoError(t, err, "%s: what we failed to remove is not in our own way", at)
		require.NoError(t, unlock())
	}
	require.Empty(t, first.Process.held, at)
	second.Alive = func(pid int) bool { return pid != 1 && pid != gonePID }
	second.clock = time.Now().Add(time.Minute)
	unlock, err = second.publish(fs.Fs)
	require.NoError(t, err, at)
	require.NoError(t, unlock())
}

// stepFs calls step before each operation on a storage. Files it writes get the
// modification time now, if it is set.
type stepFs struct {
	afero.Fs
	step func(op string)
	now  func() time.Time
}

func (s *stepFs) Open(name string) (afero.File, error) { return s.OpenFile(name, os.O_RDONLY, 0) }

func (s *stepFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	s.step("open")
	f, err := s.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	file := &stepFile{f, s}
	if flag&os.O_CREATE != 0 {
		file.date()
	}
	return file, nil
}

func (s *stepFs) Remove(name string) error {
	s.step("remove")
	return s.Fs.Remove(name)
}

type stepFile struct {
	afero.File
	fs *stepFs
}

func (f *stepFile) date() {
	if f.fs.now != nil {
		_ = f.fs.Chtimes(f.Name(), f.fs.now(), f.fs.now()) // unless it was removed
	}
}

func (f *stepFile) Read(b []byte) (int, error) {
	f.fs.step("read")
	return f.File.Read(b)
}

func (f *stepFile) Write(b []byte) (int, error) {
	f.fs.step("write")
	n, err := f.File.Write(b)
	f.date()
	return n, err
}

func (f *stepFile) Close() error {
	f.fs.step("close")
	return f.File.Close()
}

// interrupt returns a step function that calls f before the n-th operation.
func interrupt(n int, f func()) (step func(string), reached func() bool) {
	count := 0
	return func(string) {
		if count++; count == n {
			f()
		}
	}, func() bool { return count >= n }
}

// scene is an abandoned lock that several processes find. An interruption takes either no
// time, or so long that a lock which is just being written becomes an abandoned one.
type scene struct {
	t       *testing.T
	fs      afero.Fs
	clock   time.Time
	lasting time.Duration // of an interruption
}

func (s *scene) now() time.Time { return s.clock }

func (s *scene) pass() { s.clock = s.clock.Add(s.lasting) }

// take lets a process try; unlock is nil if it did not get the lock.
func (s *scene) take(pid int, step func(string)) (unlock func() error) {
	p := newPlayer(pid)
	p.Options.Now, p.Wait = s.now, giveUpAfter(2)
	unlock, err := p.publish(&stepFs{s.fs, step, s.now})
	if err != nil {
		assert.True(s.t, fault.Is(err, fault.Busy), "%v", err)
	}
	return unlock
}

// everyInterruption calls play with i = 1, 2, … and for each with j = 1, 2, … until it
// reports that these were not reached.
func everyInterruption(t *testing.T, play func(s *scene, i, j int) (reachedI, reachedJ bool)) {
	t.Helper()
	for _, found := range []string{"", "garbled", "999:1\n"} {
		for _, lasting := range []time.Duration{0, 400 * time.Millisecond, time.Second} {
			t.Run(fmt.Sprintf("found %q, interrupted for %v", found, lasting), func(t *testing.T) {
				t.Parallel()
				for i, more := 1, true; more; i++ {
					for j, inner := 1, true; inner; j++ {
						s := &scene{t: t, fs: afero.NewMemMapFs(), clock: time.Now(), lasting: lasting}
						write(t, s.fs, lockedLock, found, time.Hour)
						more, inner = play(s, i, j)
						require.False(t, t.Failed(), "interrupted at %d and %d", i, j)
					}
				}
			})
		}
	}
}

// The first process is interrupted before its i-th operation by the second, and that
// before its j-th by the third.
func TestTakersThatInterruptEachOther(t *testing.T) {
	t.Parallel()
	everyInterruption(t, func(s *scene, i, j int) (reachedI, reachedJ bool) {
		holders := 0
		take := func(pid int, step func(string)) {
			if unlock := s.take(pid, step); unlock != nil {
				holders++
				assert.Equal(s.t, 1, holders, "process %d", pid)
				if pid == 3 && (i+j)%2 == 0 { // it is done soon, so that the others continue
					assert.NoError(s.t, unlock())
					holders--
				}
			}
		}
		third, doneJ := interrupt(j, func() { s.pass(); take(3, func(string) {}); s.pass() })
		second, doneI := interrupt(i, func() { s.pass(); take(2, third); s.pass() })
		take(1, second)
		return doneI(), doneI() && doneJ()
	})
}

// The first process is interrupted before its i-th operation by the second, and runs to
// its end when that is before its j-th, which then continues too.
func TestTakersThatOverlap(t *testing.T) {
	t.Parallel()
	everyInterruption(t, func(s *scene, i, j int) (reachedI, reachedJ bool) {
		var first, second func() error
		paused, resume, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
		stepJ, doneJ := interrupt(j, func() { close(paused); <-resume; s.pass() })
		stepI, doneI := interrupt(i, func() {
			s.pass()
			go func() {
				defer close(ended)
				second = s.take(2, stepJ)
			}()
			select {
			case <-paused:
			case <-ended:
			}
		})
		first = s.take(1, stepI)
		close(resume)
		if !doneI() {
			return false, false
		}
		<-ended
		assert.False(s.t, first != nil && second != nil, "two holders")
		return true, doneJ()
	})
}

// giveUpAfter makes an impatient process, which does the same as a patient one, less
// often.
func giveUpAfter(n int) func(context.Context, time.Duration) error {
	return func(context.Context, time.Duration) error {
		if n--; n < 0 {
			return context.Canceled
		}
		return nil
	}
}

func TestEveryStampIsDifferent(t *testing.T) {
	t.Parallel()
	o := Options{Process: &Process{}, PID: math.MaxInt32, Now: func() time.Time { return time.UnixMilli(5) }}
	require.Equal(t, "2147483647:5\n", string(o.stamp()))
	require.Equal(t, "2147483647:6\n", string(o.stamp()))
	pid, ok := stampPID(o.stamp())
	require.True(t, ok)
	require.Equal(t, math.MaxInt32, pid)
}

func TestPauseEndsWithItsContext(t *testing.T) {
	t.Parallel()
	require.NoError(t, pause(t.Context(), time.Nanosecond))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, pause(ctx, time.Hour), context.Canceled)
}

// A living process that was started after a lock was taken is another one than its owner, whose pid it has. Small
// differences prove nothing, because the times are rounded, nor does a start in the future.
func TestAPublishLockOfAReusedPidIsStolen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		later  time.Duration // the start of the process after the lock
		age    time.Duration // of the lock
		stolen bool
	}{
		{"started long after", time.Minute, time.Hour, true},
		{"started a little after", bornLater, time.Hour, false},
		{"started a little later than that", bornLater + time.Millisecond, time.Hour, true},
		{"a number that is no time in milliseconds", time.Since(time.UnixMilli(2)), time.Since(time.UnixMilli(1)), false},
		{"started before", -time.Minute, time.Hour, false},
		{"started in the future, as after the clock was set back", time.Minute, time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fs, p := afero.NewMemMapFs(), newPlayer(123)
			taken := time.UnixMilli(p.clock.Add(-c.age).UnixMilli())
			content := fmt.Sprintf("77:%d\n", taken.UnixMilli())
			write(t, fs, lockedLock, content, c.age)
			p.born = func(pid int) time.Time {
				require.Equal(t, 77, pid)
				return taken.Add(c.later)
			}
			unlock, err := p.publish(fs)
			if !c.stolen {
				require.True(t, fault.Is(err, fault.Busy), "%v", err)
				there, err := afero.ReadFile(fs, lockedLock)
				require.NoError(t, err)
				require.Equal(t, content, string(there))
				return
			}
			require.NoError(t, err)
			require.Zero(t, p.waits)
			require.NoError(t, unlock())
		})
	}
}

// The start of a process, by the clock.
func TestProcessBorn(t *testing.T) {
	t.Parallel()
	switch runtime.GOOS {
	case "linux", "darwin", "windows":
		born := processBorn(os.Getpid())
		require.WithinDuration(t, time.Now(), born, time.Hour)
		require.False(t, born.After(time.Now().Add(2*time.Second)), "%v", born)
	default:
		require.Zero(t, processBorn(os.Getpid()))
	}
	require.Zero(t, processBorn(math.MaxInt32))
}
