package upkeep

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// still returns an error of kind stale unless the file at path is the one described by
// was.
func still(s *session.Store, path string, was disk.State) error {
	if now, err := disk.Regular(s.Fs, path); err != nil || !now.Same(was) {
		return fault.New(fault.Stale, "%s changed while it was being moved; it stays where it was.", path).With("path", path)
	}
	return nil
}

// taken returns an error of kind fileExists if anything is at path, or may be.
func taken(s *session.Store, path string) error {
	if _, err := disk.Lstat(s.Fs, path); !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.FileExists, "%s exists already.", path).With("path", path)
	}
	return nil
}

// artifactsOf returns the artifact directory of the session at path, if there is one. The
// error means that this could not be determined: a session must not be moved without its
// artifacts.
func artifactsOf(s *session.Store, path string) (dir string, ok bool, err error) {
	dir, ok = session.ArtifactDir(path)
	if !ok {
		return "", false, nil
	}
	info, err := disk.Lstat(s.Fs, dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return dir, false, nil
	case err != nil:
		return "", false, disk.Fault("move", dir, err)
	}
	return dir, info.IsDir() || info.Mode()&fs.ModeSymlink != 0, nil
}

// carry moves the file or directory at from to to, which must be free. After an error it
// is at from, and after a crash one of the two is complete: if the two are on different
// file systems it is copied and synced before the original is removed. If the file is not
// the one in was, which may be nil, the error is of kind stale.
func carry(s *session.Store, from, to string, was *disk.State) error {
	if err := taken(s, to); err != nil {
		return err
	}
	if was != nil {
		if err := still(s, from, *was); err != nil {
			return err
		}
	}
	err := durable.Rename(s.Fs, from, to)
	if crossesFileSystems(err) {
		return carryAcross(s, from, to, was)
	} else if err != nil {
		return disk.Fault("move", from, err)
	}
	if was != nil {
		// Checked again, because another file may have appeared meanwhile.
		if err := still(s, to, *was); err != nil {
			return errors.Join(err, putBack(s, to, from))
		}
	}
	durable.SyncDir(s.Fs, filepath.Dir(to))
	durable.SyncDir(s.Fs, filepath.Dir(from))
	return nil
}

// putBack renames now back to path, unless path exists again.
func putBack(s *session.Store, now, path string) error {
	err := taken(s, path)
	if err == nil {
		if err = durable.Rename(s.Fs, now, path); err == nil {
			return nil
		}
	}
	return fault.New(fault.IO, "What was at %s is at %s now: %w", path, now, err).With("path", now)
}

func crossesFileSystems(err error) bool {
	const errorNotSameDevice = syscall.Errno(17) // Windows' error code
	return errors.Is(err, syscall.EXDEV) || runtime.GOOS == "windows" && errors.Is(err, errorNotSameDevice)
}

// carryAcross is carry to another file system.
func carryAcross(s *session.Store, from, to string, was *disk.State) error {
	suffix := s.NewID()
	copied := beside(to, suffix+".tmp")
	before, err := inventory(s, from)
	if err == nil && was != nil {
		err = still(s, from, *was)
	}
	if err == nil {
		err = copyItems(s, from, copied, before)
	}
	if err == nil {
		err = durable.Rename(s.Fs, copied, to)
	}
	if err != nil {
		_ = removeTree(s.Fs, copied) // best effort; the error that matters is returned
		return disk.Fault("move", from, err)
	}
	durable.SyncDir(s.Fs, filepath.Dir(to))
	// Moved away by one rename, so that no reader finds a half of it.
	aside := beside(from, suffix+".moved")
	if err := durable.Rename(s.Fs, from, aside); err != nil {
		return errors.Join(disk.Fault("move", from, err), removeTree(s.Fs, to))
	}
	if after, err := inventory(s, aside); err != nil || !slices.Equal(before, after) {
		stale := fault.New(fault.Stale, "%s changed while it was being moved; it stays where it was.", from).With("path", from)
		if err := putBack(s, aside, from); err != nil {
			return errors.Join(stale, err)
		}
		return errors.Join(stale, removeTree(s.Fs, to))
	}
	if err := removeTree(s.Fs, aside); err != nil {
		s.Log.Warn("a moved file could not be removed where it was", zap.String("path", aside), zap.Error(err))
	}
	durable.SyncDir(s.Fs, filepath.Dir(from))
	return nil
}

// beside is a hidden name in the directory of path.
func beside(path, suffix string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+suffix)
}

// lockFiles keeps other programs from writing to the session files at paths.
func lockFiles(s *session.Store, paths ...string) (unlock func(), err error) {
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
				s.Log.Warn("a lock was not removed", zap.String("path", paths[i]), zap.Error(err))
			}
		}
	}
	for _, path := range paths {
		release, err := s.Locks.Publish(path)
		if err != nil {
			unlock()
			return nil, err
		}
		releases = append(releases, release)
	}
	return unlock, nil
}

// makeDir makes the directory at path; undo takes it away again if it is new and empty.
func makeDir(s *session.Store, path string) (undo func(), err error) {
	undo = func() {}
	if _, err = s.Fs.Stat(path); errors.Is(err, fs.ErrNotExist) {
		undo = func() { removeEmpty(s.Fs, path) }
	} else if err != nil {
		return nil, disk.Fault("create", path, err) // it would be unknown whether the directory is ours to remove
	}
	if err := durable.MakeDirs(s.Fs, path, disk.DirMode); err != nil {
		undo()
		return nil, disk.Fault("create", path, err)
	}
	return undo, nil
}
