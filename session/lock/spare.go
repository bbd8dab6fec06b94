package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// sparePrefix begins the name of a spare, which is in the directory of the session locks.
const sparePrefix = ".spare-"

// maxSpares is how many spares a process makes. One that is of no use, because its directory is on another file system
// than the sessions or somebody removes it, is not made forever.
const maxSpares = 3

// spare is a file with another name that becomes a publish lock by getting the lock's name, too. Making a file costs
// most of an append, a second name a tenth of it. And such a lock never lacks its owner's name. It is used by one
// lock at a time; meanwhile others are made as files.
//
// The file stays open, so that no other file gets its inode: a file with the lock's name is this one or another
// program's.
type spare struct {
	using sync.Mutex // held while it is a lock

	mu    sync.Mutex
	users int         // open sessions; guarded by mu, like all below
	made  int         // how many spares were made
	dir   string      // where they are made
	fs    afero.Fs    // of dir
	file  afero.File  // nil if there is none
	info  fs.FileInfo // of file
	size  int         // of its content, in bytes
}

// keep allows a spare in dir until done is called.
func (s *spare) keep(fsys afero.Fs, dir string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users, s.dir, s.fs = s.users+1, dir, fsys
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.users--; s.users == 0 {
			s.dropLocked()
		}
	}
}

// linkOf returns os.Link for the machine's own file system, which afero has no method for. nil: there are no second names.
func (o *Options) linkOf(fsys afero.Fs) func(from, to string) error {
	if o.link != nil {
		return o.link
	}
	if _, ok := fsys.(*afero.OsFs); ok && runtime.GOOS != "windows" {
		return os.Link //nolint:forbidigo // afero has no method for it; tests give their own
	}
	return nil
}

// put makes the spare the lock f with a content, and returns what it is. ok is false if there is no spare, or it cannot
// be used now. The error is errLocked if the lock exists.
func (s *spare) put(f file, content []byte) (made fs.FileInfo, ok bool, err error) {
	link := f.env.linkOf(f.fs)
	if s == nil || link == nil || !s.using.TryLock() {
		return nil, false, nil
	}
	defer func() {
		if made == nil {
			s.using.Unlock()
		}
	}()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users == 0 || !s.makeLocked(f.env) || s.writeLocked(content) != nil {
		return nil, false, nil
	}
	err = link(s.file.Name(), f.path)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, true, errLocked
	case err != nil:
		s.dropLocked() // it may have been removed
		return nil, false, nil
	}
	return s.info, true, nil
}

// makeLocked makes the spare if there is none. It reports whether there is one.
func (s *spare) makeLocked(env *Options) bool {
	if s.file != nil {
		return true
	}
	if s.made == maxSpares {
		return false
	}
	s.made++
	path := filepath.Join(s.dir, fmt.Sprintf("%s%d-%d.lock", sparePrefix, env.PID, env.Process.millis(env.Now())))
	f, err := s.fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, disk.FileMode)
	if err != nil {
		return false
	}
	s.file, s.size = f, 0
	if s.info, err = f.Stat(); err != nil {
		s.dropLocked()
	}
	return err == nil
}

// writeLocked replaces the content.
func (s *spare) writeLocked(content []byte) error {
	n, err := s.file.WriteAt(content, 0)
	if err == nil && n < s.size {
		err = s.file.Truncate(int64(n))
	}
	s.size = n
	if err != nil || n < len(content) {
		s.dropLocked()
		return errors.Join(err, errLocked)
	}
	return nil
}

// dropLocked removes the spare. It may still be a lock, under the lock's name.
func (s *spare) dropLocked() {
	if s.file != nil {
		_ = s.fs.Remove(s.file.Name()) // best effort: the command gc removes what is left
		_ = s.file.Close()
		s.file, s.info = nil, nil
	}
}

// release gives up a lock that put made.
func (s *spare) release(f file, content []byte, made fs.FileInfo) error {
	defer s.using.Unlock()
	defer f.env.Process.drop(content)
	there, err := f.fs.Stat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(there, made):
		return fault.New(fault.Stale, "The lock of %s was removed while it was held.", f.of).With("path", f.of)
	case err == nil:
		err = f.fs.Remove(f.path)
	}
	if err != nil {
		return disk.Fault("unlock", f.of, err)
	}
	return nil
}

// is reports whether the spare is the file at path.
func (s *spare) is(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file != nil && filepath.Clean(s.file.Name()) == filepath.Clean(path)
}

// isSpare reports whether a file of the directory of the session locks is a spare.
func isSpare(name string) bool { return strings.HasPrefix(name, sparePrefix) }
