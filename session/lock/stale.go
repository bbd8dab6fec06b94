package lock

import (
	"errors"
	"path/filepath"
	"strings"
)

// Stale is the lock of a process that has ended.
type Stale struct{ f file }

// IsLock reports whether the file at path is a lock by its name and directory: the lock of
// a session, which is in dir, that of a write, or the claim of one of these.
func (l *Locker) IsLock(path, dir string) bool {
	_, ok := l.fileAt(path, dir)
	return ok
}

// Stale returns the lock at path if its process has ended; dir holds the locks of
// sessions.
func (l *Locker) Stale(path, dir string) (s Stale, ok bool) {
	f, ok := l.fileAt(path, dir)
	if !ok || l.spare.is(path) {
		return Stale{}, false
	}
	_, owner, err := f.look(nil)
	return Stale{f}, err == nil && owner == ownerGone
}

// fileAt returns the lock that the file at path is by its name and directory.
func (l *Locker) fileAt(path, sessions string) (f file, ok bool) {
	dir, name := filepath.Split(path)
	f = file{fs: l.fs, path: path, of: path, env: l.env, judge: l.env.judgePublish}
	locked := name
	for strings.HasSuffix(locked, ".claim") {
		locked = strings.TrimSuffix(locked, ".claim")
		f.depth++
	}
	if sessions != "" && filepath.Clean(dir) == filepath.Clean(sessions) {
		if f.depth == 0 && !isSpare(name) {
			f.judge = l.env.judgeSession
		}
		return f, strings.HasSuffix(locked, ".lock")
	}
	return f, strings.HasPrefix(locked, ".") && strings.HasSuffix(locked, ".jsonl.lock")
}

// Remove removes the lock. removed is false without an error if another process took the
// lock in the meantime.
func (s Stale) Remove() (removed bool, err error) {
	err = s.f.takeAway(nil)
	if errors.Is(err, errLocked) {
		return false, nil
	}
	return err == nil, err
}
