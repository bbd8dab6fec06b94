package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// fileState is what a file was at one moment. The info alone will not do: that of
// storage in memory always tells of now.
type fileState struct {
	info os.FileInfo
	size int64
	mod  time.Time
}

func (a fileState) same(b fileState) bool {
	return sameFile(a.info, b.info) && a.size == b.size && a.mod.Equal(b.mod)
}

// regular returns the state of the file at path, which must be one and no link to one:
// moving a link would leave the file behind.
func (s *Store) regular(path string) (fileState, error) {
	info, err := s.lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "move", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return fileState{}, ioFault("move", path, err)
	}
	return fileState{info: info, size: info.Size(), mod: info.ModTime()}, nil
}

// still reports kind stale unless the file at path is the one that was seen.
func (s *Store) still(path string, was fileState) error {
	if now, err := s.regular(path); err != nil || !now.same(was) {
		return fault.New(fault.Stale, "%s changed while it was being moved; it stays where it was.", path).With("path", path)
	}
	return nil
}

func (s *Store) lstat(path string) (os.FileInfo, error) {
	if l, ok := s.Fs.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(path)
		return info, err
	}
	return s.Fs.Stat(path)
}

// taken is kind fileExists when anything is at path, or may be.
func (s *Store) taken(path string) error {
	if _, err := s.lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.FileExists, "%s exists already.", path).With("path", path)
	}
	return nil
}

// artifactsOf returns the artifact directory of the session at path, if there is one. The
// error is that of finding out: a session must not go without its artifacts.
func (s *Store) artifactsOf(path string) (dir string, ok bool, err error) {
	dir, ok = ArtifactDir(path)
	if !ok {
		return "", false, nil
	}
	info, err := s.lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return dir, false, nil
	case err != nil:
		return "", false, ioFault("move", dir, err)
	}
	return dir, info.IsDir() || info.Mode()&fs.ModeSymlink != 0, nil
}

// carry moves the file or directory at from to to, where nothing may be. After an
// error it is at from, and after a crash one of the two is whole: where the two are on
// different file systems it is copied and synced before the first is given up.
// A file that is not the one in was, which may be nil, is kind stale.
func (s *Store) carry(from, to string, was *fileState) error {
	if err := s.taken(to); err != nil {
		return err
	}
	if was != nil {
		if err := s.still(from, *was); err != nil {
			return err
		}
	}
	err := s.Fs.Rename(from, to)
	if crossesFileSystems(err) {
		return s.carryAcross(from, to, was)
	} else if err != nil {
		return ioFault("move", from, err)
	}
	if was != nil {
		// Asked again, because another file may have come between.
		if err := s.still(to, *was); err != nil {
			return errors.Join(err, s.putBack(to, from))
		}
	}
	syncDir(s.Fs, filepath.Dir(to))
	syncDir(s.Fs, filepath.Dir(from))
	return nil
}

// putBack renames what is at now back to path, unless something else is there by then.
func (s *Store) putBack(now, path string) error {
	err := s.taken(path)
	if err == nil {
		if err = s.Fs.Rename(now, path); err == nil {
			return nil
		}
	}
	return fault.New(fault.IO, "What was at %s is at %s now: %w", path, now, err).With("path", now)
}

func crossesFileSystems(err error) bool {
	const errorNotSameDevice = syscall.Errno(17) // what Windows says
	return errors.Is(err, syscall.EXDEV) || runtime.GOOS == "windows" && errors.Is(err, errorNotSameDevice)
}

// carryAcross is carry to another file system.
func (s *Store) carryAcross(from, to string, was *fileState) error {
	suffix := s.ids.Session()
	copied := beside(to, suffix+".tmp")
	before, err := s.inventory(from)
	if err == nil && was != nil {
		err = s.still(from, *was)
	}
	if err == nil {
		err = s.copyItems(from, copied, before)
	}
	if err == nil {
		err = s.Fs.Rename(copied, to)
	}
	if err != nil {
		_ = removeTree(s.Fs, copied) // best effort; the error that matters is returned
		return ioFault("move", from, err)
	}
	syncDir(s.Fs, filepath.Dir(to))
	// Set aside by one rename, so that no reader meets a half of it.
	aside := beside(from, suffix+".moved")
	if err := s.Fs.Rename(from, aside); err != nil {
		return errors.Join(ioFault("move", from, err), removeTree(s.Fs, to))
	}
	if after, err := s.inventory(aside); err != nil || !slices.Equal(before, after) {
		stale := fault.New(fault.Stale, "%s changed while it was being moved; it stays where it was.", from).With("path", from)
		if err := s.putBack(aside, from); err != nil {
			return errors.Join(stale, err)
		}
		return errors.Join(stale, removeTree(s.Fs, to))
	}
	if err := removeTree(s.Fs, aside); err != nil {
		s.log.Warn("a moved file could not be removed where it was", zapPath(aside), zap.Error(err))
	}
	syncDir(s.Fs, filepath.Dir(from))
	return nil
}

// beside is a hidden name in the directory of path.
func beside(path, suffix string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+suffix)
}

// lock keeps other programs from writing to the session files at paths.
func (s *Store) lock(paths ...string) (unlock func(), err error) {
	owners := s.Owners()
	for _, path := range paths {
		if o, ok := owners[path]; ok && !o.Ours {
			return nil, fault.New(fault.Busy, "%s is open in another editor (pid %d on %s).", path, o.PID, o.Host).
				With("path", path).With("pid", o.PID)
		}
	}
	var releases []func() error
	unlock = func() {
		for i, release := range slices.Backward(releases) {
			if err := release(); err != nil {
				s.log.Warn("a lock was not removed", zapPath(paths[i]), zapError(err))
			}
		}
	}
	for _, path := range paths {
		release, err := s.locks.publish(path)
		if err != nil {
			unlock()
			return nil, err
		}
		releases = append(releases, release)
	}
	return unlock, nil
}

// makeDir makes the directory at path; undo takes it away again if it is new and empty.
func (s *Store) makeDir(path string) (undo func(), err error) {
	undo = func() {}
	if _, err = s.Fs.Stat(path); errors.Is(err, fs.ErrNotExist) {
		undo = func() { removeEmpty(s.Fs, path) }
	} else if err != nil {
		return nil, ioFault("create", path, err) // nobody could say whether it is ours to take away again
	}
	if err := s.Fs.MkdirAll(path, dirMode); err != nil {
		undo()
		return nil, ioFault("create", path, err)
	}
	return undo, nil
}
