package session

import (
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// UpdateFile replaces the file at path, which must exist, by what change makes of its
// content, whole or not at all. An error of change is returned and nothing is written; a
// file that changes in the meantime is kind stale and stays as it is.
func (s *Store) UpdateFile(path string, change func(old []byte) ([]byte, error)) error {
	real, err := s.realPath(path)
	if err != nil {
		return ioFault("read", path, err)
	}
	before, err := s.Fs.Stat(real)
	if err == nil && !before.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return ioFault("read", path, err)
	}
	size, changed := before.Size(), before.ModTime() // in memory, before is always what is now
	old, err := afero.ReadFile(s.Fs, real)
	if err != nil {
		return ioFault("read", path, err)
	}
	content, err := change(old)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	return replaceFile(s.Fs, real, s.ids.Session(), before.Mode().Perm(), write, func() error {
		now, err := s.Fs.Stat(real)
		if err != nil {
			return ioFault("read", path, err)
		}
		if !sameFile(now, before) || now.Size() != size || !now.ModTime().Equal(changed) {
			return fault.New(fault.Stale, "%s was changed by another program in the meantime; it stays as it is.", path).With("path", path)
		}
		return nil
	})
}
