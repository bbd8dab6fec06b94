package contents

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Valid reports whether a string can be the name of a content.
func Valid(sha string) bool {
	return len(sha) == 64 && strings.Trim(sha, "0123456789abcdef") == ""
}

func missing(sha string) error { return fmt.Errorf("%w (%s)", ErrMissing, shown(sha)) }
func damaged(sha string) error { return fmt.Errorf("%w (%s)", ErrDamaged, shown(sha)) }

// shown returns the beginning of a name for an error message. The name may be any string.
func shown(sha string) string {
	if len(sha) > 12 {
		sha = sha[:12]
	}
	return fault.OneLine(sha)
}

func (s *Store) pathOf(sha string) string { return filepath.Join(s.dir, sha[:2], sha) }

// checkLocked returns an error if a directory is a link, because contents would be written or read elsewhere. A missing directory is
// no error.
func (s *Store) checkLocked(dirs ...string) error {
	for _, dir := range dirs {
		info, err := disk.Lstat(s.fs, dir)
		switch {
		case disk.NotThere(err):
		case err != nil:
			return disk.Fault("read", dir, err)
		case info.Mode()&fs.ModeSymlink != 0:
			return disk.IsLink(dir)
		}
	}
	return nil
}

// fileLocked describes the file of a content. The error wraps ErrMissing, or ErrDamaged if it is not a regular file.
func (s *Store) fileLocked(sha string) (fs.FileInfo, error) {
	if !Valid(sha) {
		return nil, missing(sha)
	}
	path := s.pathOf(sha)
	if err := s.checkLocked(filepath.Dir(s.dir), s.dir, filepath.Dir(path)); err != nil {
		return nil, err
	}
	info, err := disk.Lstat(s.fs, path)
	switch {
	case disk.NotThere(err):
		return nil, missing(sha)
	case err != nil:
		return nil, disk.Fault("read", path, err)
	case !info.Mode().IsRegular():
		return nil, damaged(sha)
	}
	return info, nil
}

// readLocked reads a content.
func (s *Store) readLocked(sha string) ([]byte, error) {
	info, err := s.fileLocked(sha)
	if err != nil {
		return nil, err
	}
	if info.Size() > s.maxRead() {
		return nil, damaged(sha)
	}
	path := s.pathOf(sha)
	f, err := s.fs.Open(path)
	if disk.NotThere(err) {
		return nil, missing(sha)
	} else if err != nil {
		return nil, disk.Fault("read", path, err)
	}
	packed := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = packed.ReadFrom(io.LimitReader(f, s.maxRead()))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, disk.Fault("read", path, err)
	}
	return unpack(packed.Bytes(), sha, s.maxRead())
}

// writeLocked writes the file of a content, or replaces a damaged one.
func (s *Store) writeLocked(sha string, packed []byte) (err error) {
	path := s.pathOf(sha)
	dir := filepath.Dir(path)
	if err := s.checkLocked(filepath.Dir(s.dir), s.dir, dir); err != nil {
		return err
	}
	if err := s.fs.MkdirAll(dir, dirMode); err != nil {
		return disk.Fault("create", dir, err)
	}
	temp := path + "." + rand.Text()[:8] + ".tmp"
	f, err := s.fs.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return disk.Fault("create", temp, err)
	}
	_, err = f.Write(packed)
	if err = errors.Join(err, f.Close()); err == nil {
		err = durable.Rename(s.fs, temp, path)
	}
	if err != nil {
		_ = s.fs.Remove(temp) // best effort; the error that matters is returned
		return disk.Fault("write", path, err)
	}
	return nil
}

// countLocked adds the size of the existing contents to used.
func (s *Store) countLocked() error {
	if s.counted {
		return nil
	}
	used := int64(0)
	err := s.eachLocked(func(_ string, info fs.FileInfo) { used += info.Size() })
	if err == nil {
		s.used, s.counted = used, true
	}
	return err
}

// eachLocked calls f for each file whose name is that of a content, in name order.
func (s *Store) eachLocked(f func(sha string, info fs.FileInfo)) error {
	if err := s.checkLocked(filepath.Dir(s.dir), s.dir); err != nil {
		return err
	}
	dirs, err := afero.ReadDir(s.fs, s.dir)
	if disk.NotThere(err) {
		return nil
	} else if err != nil {
		return disk.Fault("read", s.dir, err)
	}
	for _, d := range dirs {
		if !d.IsDir() || len(d.Name()) != 2 {
			continue
		}
		dir := filepath.Join(s.dir, d.Name())
		files, err := afero.ReadDir(s.fs, dir)
		if err != nil && !disk.NotThere(err) {
			return disk.Fault("read", dir, err)
		}
		for _, info := range files {
			if name := info.Name(); Valid(name) && name[:2] == d.Name() && info.Mode().IsRegular() {
				f(name, info)
			}
		}
	}
	return nil
}

// Size returns the number of contents and their compressed bytes.
func (s *Store) Size() (files int, size int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.eachLocked(func(_ string, info fs.FileInfo) { files, size = files+1, size+info.Size() })
	return files, size, err
}

// Names returns the names of all contents, sorted.
func (s *Store) Names() (names []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.eachLocked(func(sha string, _ fs.FileInfo) { names = append(names, sha) })
	return names, err
}

// Settle moves a store in memory into a directory, after the session got a file. It does nothing for a store that has a directory.
// After an error the store is still in memory.
func (s *Store) Settle(fsys afero.Fs, dir string, maxSession int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.memory {
		return nil
	}
	to := Open(Options{Fs: fsys, Dir: dir, MaxFile: s.maxFile, MaxSession: maxSession})
	var names []string
	if err := s.eachLocked(func(sha string, _ fs.FileInfo) { names = append(names, sha) }); err != nil {
		return err
	}
	for _, sha := range names {
		content, err := s.readLocked(sha)
		if err != nil {
			return err
		}
		if _, err := to.Put(content); err != nil {
			return err
		}
	}
	s.fs, s.dir, s.memory = to.fs, to.dir, false
	s.maxSession, s.used, s.counted, s.known = to.maxSession, to.used, to.counted, to.known
	return nil
}
