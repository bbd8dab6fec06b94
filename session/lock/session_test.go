package lock

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

const (
	locksDir      = "/agent/xcsh-ls/locks"
	lockedID      = "0123456789abcdef"
	lockedSession = locksDir + "/" + lockedID + ".lock"
)

func (p *player) open(fs afero.Fs) (*Session, error) {
	return acquireSession(fs, locksDir, lockedID, lockedFile, p.Options)
}

func TestSessionLockNamesItsOwner(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		p := newPlayer(123)
		p.clock = time.Date(2026, 2, 3, 4, 5, 6, 789e6, time.UTC)
		lock, err := p.open(fs)
		require.NoError(t, err)
		content, err := afero.ReadFile(fs, lockedSession)
		require.NoError(t, err)
		require.Equal(t, `{"pid":123,"startedAt":"2026-02-03T04:05:06.789Z","host":"here","path":"/s/x.jsonl",`+
			`"app":"xcsh-ls","version":"1.2.3","process":"boot:123"}`+"\n", string(content))
		for path, mode := range map[string]os.FileMode{lockedSession: 0o600, locksDir: 0o700} {
			info, err := fs.Stat(path)
			require.NoError(t, err)
			if runtime.GOOS != "windows" { // which has no modes
				require.Equal(t, mode, info.Mode().Perm(), path)
			}
		}
		owner, ok := sessionOwner(fs, locksDir, lockedID, newPlayer(5).Options)
		require.True(t, ok)
		want := Owner{PID: 123, Host: "here", Since: p.clock, Path: lockedFile, App: "xcsh-ls", Version: "1.2.3"}
		require.Equal(t, want, owner)
		want.Ours = true
		owner, ok = sessionOwner(fs, locksDir, lockedID, p.Options)
		require.True(t, ok)
		require.Equal(t, want, owner)

		require.NoError(t, lock.Release())
		requireNoFile(t, fs, lockedSession)
		require.NoError(t, lock.Release(), "a second release does nothing")
		_, ok = sessionOwner(fs, locksDir, lockedID, p.Options)
		require.False(t, ok)
	})
}

// lockOf is a lock as the process pid left it, changed by edit.
func lockOf(pid int, edit func(*sessionRecord)) string {
	r := sessionRecord{
		PID: pid, StartedAt: "2026-01-01T00:00:00.000Z", Host: "here", Path: "/s/other.jsonl",
		App: app, Version: "1", Process: fmt.Sprintf("boot:%d", pid),
	}
	if edit != nil {
		edit(&r)
	}
	b, _ := json.Marshal(r)
	return string(b) + "\n"
}

func TestSessionLocksThatAreTakenOver(t *testing.T) {
	t.Parallel()
	elsewhere := func(r *sessionRecord) { r.Host = "elsewhere" }
	rebooted := func(r *sessionRecord) { r.Process = "earlier boot:77" }
	untold := func(r *sessionRecord) { r.Process = "" }
	const at = " since 2026-01-01T00:00:00.000Z."
	shown := filepath.FromSlash(lockedSession)
	for _, c := range []struct {
		name    string
		content string
		age     time.Duration
		busy    string // the end of the sentence; "" when the lock is had
	}{
		{"a process that is gone left it", lockOf(gonePID, nil), 0, ""},
		{"a process that is gone left it and the system tells no start times", lockOf(gonePID, untold), 0, ""},
		{"another process has the pid by now", lockOf(77, rebooted), 0, ""},
		{"an earlier process had our pid", lockOf(123, nil), 0, ""},
		{"a crash left it empty", "", time.Minute, ""},
		{"a crash left it garbled", `{"pid":77,`, time.Minute, ""},
		{"it is empty and young, so that somebody may be writing it", "", -time.Hour, "Session 0123456789abcdef is just being opened or closed elsewhere."},
		{"a living process holds it", lockOf(77, nil), time.Hour, "is open in xcsh-ls with pid 77 on here" + at},
		{
			"a living process holds it, if the pid is still its", lockOf(77, untold), time.Hour,
			"on here" + at + " If pid 77 is another program, remove " + shown + ".",
		},
		{
			"a process of another machine holds it", lockOf(77, elsewhere), time.Hour,
			"with pid 77 on elsewhere" + at + " If that program is gone, remove " + shown + ".",
		},
		{
			"a process of another machine holds it whose pid is nobody's here", lockOf(gonePID, elsewhere), time.Hour,
			"on elsewhere" + at + " If that program is gone, remove " + shown + ".",
		},
		{
			"a process of another machine holds it whose pid is ours here", lockOf(123, elsewhere), time.Hour,
			"on elsewhere" + at + " If that program is gone, remove " + shown + ".",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
				write(t, fs, lockedSession, c.content, c.age)
				p := newPlayer(123)
				_, listed := sessionOwner(fs, locksDir, lockedID, p.Options)
				lock, err := p.open(fs)
				if c.busy != "" {
					require.True(t, fault.Is(err, fault.Busy), "%v", err)
					require.True(t, strings.HasSuffix(err.Error(), c.busy), err.Error())
					require.Equal(t, !strings.Contains(c.busy, "just being"), listed)
					return
				}
				require.NoError(t, err)
				require.Zero(t, p.waits, "at once")
				require.False(t, listed)
				require.NoError(t, lock.Release())
				left, err := afero.ReadDir(fs, locksDir)
				require.NoError(t, err)
				require.Empty(t, left)
			})
		})
	}
}

// Proves: AB-022, AB-072
func TestASecondProcessGetsTheOwnerOfTheSession(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		first, second := newPlayer(1), newPlayer(2)
		lock, err := first.open(fs)
		require.NoError(t, err)
		_, err = second.open(fs)
		require.True(t, fault.Is(err, fault.Busy), "%v", err)
		require.Zero(t, second.waits, "a session is held for long")
		require.Equal(t, map[string]any{
			"path": lockedFile, "pid": 1, "host": "here", "since": first.Now().UTC().Format(startedLayout),
		}, faultData(t, err))
		require.NoError(t, lock.Release())
		lock, err = second.open(fs)
		require.NoError(t, err)
		require.NoError(t, lock.Release())
	})
}

func TestOneProcessOpensASessionOnce(t *testing.T) {
	t.Parallel()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) {
		p := newPlayer(1)
		lock, err := p.open(fs)
		require.NoError(t, err)
		_, err = p.open(fs)
		require.True(t, fault.Is(err, fault.Busy), "%v", err)
		require.ErrorContains(t, err, "is already open in this program, since ")
		other, err := acquireSession(fs, locksDir, "another", lockedFile, p.Options)
		require.NoError(t, err, "another session is nobody's")
		owner, ok := sessionOwner(fs, locksDir, "another", p.Options)
		require.True(t, ok && owner.Ours)
		require.NoError(t, other.Release())
		require.NoError(t, lock.Release())
		lock, err = p.open(fs)
		require.NoError(t, err)
		require.NoError(t, lock.Release())
	})
}

// Storages are independent: a lock in one does not affect another.
func TestTheSameSessionInAnotherStorageIsFree(t *testing.T) {
	t.Parallel()
	p := newPlayer(1)
	for range 2 {
		_, err := p.open(afero.NewMemMapFs())
		require.NoError(t, err)
	}
}

func TestNoSessionLockIsReleasedWithoutFurtherAdo(t *testing.T) {
	t.Parallel()
	var none *Session
	require.NoError(t, none.Release())
}

func TestReleasingASessionThatWasTakenAwayIsStale(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	lock, err := newPlayer(1).open(fs)
	require.NoError(t, err)
	require.NoError(t, fs.Remove(lockedSession)) // as the busy error advises
	other, err := newPlayer(2).open(fs)
	require.NoError(t, err)
	require.True(t, fault.Is(lock.Release(), fault.Stale))
	require.NoError(t, other.Release(), "and the other's lock is untouched")
}

func TestSessionLockNeedsAPlaceThatCanBeWritten(t *testing.T) {
	t.Parallel()
	_, err := newPlayer(1).open(afero.NewReadOnlyFs(afero.NewMemMapFs()))
	require.True(t, fault.Is(err, fault.ReadOnly), "%v", err)
}

func TestFaultsNeverMakeTwoOwnersOfASession(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"", lockOf(gonePID, nil)} {
		for mode := st.Once; mode <= st.Short; mode++ {
			t.Run(fmt.Sprintf("found %d bytes, mode %d", len(before), mode), func(t *testing.T) {
				t.Parallel()
				st.RunStorage(t, func(t *testing.T, base afero.Fs) {
					for at := 1; ; at++ {
						require.NoError(t, base.RemoveAll(locksDir))
						if before != "" {
							write(t, base, lockedSession, before, 0)
						}
						fs := &st.FaultFs{Fs: base, At: at, Mode: mode}
						openWithFaults(t, fs)
						if !fs.Fired() {
							break
						}
					}
				})
			})
		}
	}
}

func openWithFaults(t *testing.T, fs *st.FaultFs) {
	t.Helper()
	first, second, at := newPlayer(1), newPlayer(2), fmt.Sprintf("fault at %d", fs.At)
	lock, err := first.open(fs)
	if err == nil {
		_, err = second.open(fs.Fs)
		require.True(t, fault.Is(err, fault.Busy), "%s: %v", at, err)
		if err = lock.Release(); err == nil {
			requireNoFile(t, fs.Fs, lockedSession)
		}
	}
	if err != nil {
		require.ErrorIs(t, err, st.ErrInjected, at)
	}
	require.Empty(t, first.Process.held, at)
	second.Alive = func(pid int) bool { return pid != 1 && pid != gonePID }
	second.clock = time.Now().Add(time.Minute)
	lock, err = second.open(fs.Fs)
	require.NoError(t, err, at)
	require.NoError(t, lock.Release())
}

// Proves: A-020, F-29
func TestTwoSessionsNeverShareALock(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 300)
	ids := []string{"", ".", "..", "a", "a/b", "a_b", `a\b`, "a:b", "ä", "../x", "a.lock", long, long + "b", "CON:"}
	seen := map[string]string{}
	for _, id := range ids {
		name := lockName(id)
		require.Empty(t, seen[name], "%q and %q", id, seen[name])
		seen[name] = "the name of " + id
		require.Equal(t, name, filepath.Base(name))
		require.False(t, strings.HasPrefix(name, ".."), name)
		require.Less(t, len(name), 150)
	}
	require.Equal(t, lockedID+".lock", lockName(lockedID))
}

// sessionOwner returns the process that has a session open for writing; ok is false if there is
// none, or if it no longer lives.
func sessionOwner(fs afero.Fs, dir, sessionID string, o Options) (owner Owner, ok bool) {
	return sessionLockFile(fs, dir, sessionID, o.filled()).sessionOwner()
}
