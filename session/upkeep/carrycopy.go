package upkeep

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// item is one file or directory within the moved tree.
type item struct {
	rel  string
	dir  bool
	mode fs.FileMode
	size int64
	mod  int64 // unix nanoseconds; 0 for a directory
}

// inventory lists path and everything below it, directories before their content.
func inventory(s *session.Store, path string) (items []item, err error) {
	err = afero.Walk(s.Fs, path, func(p string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(path, p)
		switch {
		case err != nil:
			return err
		case info.IsDir():
			items = append(items, item{rel: rel, dir: true})
		case info.Mode().IsRegular():
			items = append(items, item{rel: rel, mode: info.Mode().Perm(), size: info.Size(), mod: info.ModTime().UnixNano()})
		default:
			return fault.New(fault.IO, "%s is a link or a device, which cannot be moved to another file system.", p).With("path", p)
		}
		return nil
	})
	return items, err
}

// twins reports whether a and b both exist with the same content, as after a crash between
// copying and removing.
func twins(s *session.Store, a, b string) bool {
	inA, errA := inventory(s, a)
	inB, errB := inventory(s, b)
	return errA == nil && errB == nil && slices.Equal(inA, inB)
}

func copyItems(s *session.Store, from, to string, items []item) error {
	for _, i := range items {
		target := filepath.Join(to, i.rel)
		if i.dir {
			if err := durable.MakeDirs(s.Fs, target, disk.DirMode); err != nil {
				return err
			}
			continue
		}
		err := disk.Replace(s.Fs, target, s.NewID(), i.mode&disk.DirMode|disk.FileMode, func(w io.Writer) error {
			return copyContent(s, w, filepath.Join(from, i.rel), i.size)
		}, func() error { return nil })
		if err != nil {
			return err
		}
		keepTime(s, target, time.Unix(0, i.mod))
	}
	return nil
}

// copyContent copies the size bytes of the file at path.
func copyContent(s *session.Store, w io.Writer, path string, size int64) error {
	f, err := s.Fs.Open(path)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, f)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.Close())
}

// keepTime gives a copy the modification time of the original, because lists are sorted by
// time.
func keepTime(s *session.Store, path string, t time.Time) {
	_ = s.Fs.Chtimes(path, t, t) // a list in another order is no failure
}

// removeTree removes path and everything below it; a missing path is not an error. Unlike
// RemoveAll it continues with everything that can still be removed.
func removeTree(fsys afero.Fs, path string) error {
	var paths []string
	err := afero.Walk(fsys, path, func(p string, _ os.FileInfo, err error) error {
		if err == nil {
			paths = append(paths, p)
		} else if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	})
	for _, p := range slices.Backward(paths) {
		err = errors.Join(err, fsys.Remove(p))
	}
	return err
}

// removeEmpty removes the directory at path if it is empty.
func removeEmpty(fsys afero.Fs, path string) {
	if empty, err := afero.IsEmpty(fsys, path); err == nil && empty {
		_ = fsys.Remove(path) // it may have been filled meanwhile, and then must stay
	}
}
