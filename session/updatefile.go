package session

import (
	"errors"
	"io"
	"io/fs"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// UpdateFile replaces the content of the file at path, which must exist, with the result of
// change, whole or not at all. If change fails, its error is returned and nothing is
// written. A file that changes in the meantime is a Stale error and is not overwritten.
func (s *Store) UpdateFile(path string, change func(old []byte) ([]byte, error)) error {
	real, err := s.realPath(path)
	if err != nil {
		return disk.Fault("read", path, err)
	}
	before, err := s.Fs.Stat(real)
	if err == nil && !before.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return disk.Fault("read", path, err)
	}
	size, changed := before.Size(), before.ModTime() // in memory, before always describes the current file
	old, err := afero.ReadFile(s.Fs, real)
	if err != nil {
		return disk.Fault("read", path, err)
	}
	content, err := change(old)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
	return disk.Replace(s.Fs, real, s.NewID(), before.Mode().Perm(), write, func() error {
		now, err := s.Fs.Stat(real)
		if err != nil {
			return disk.Fault("read", path, err)
		}
		if !disk.SameFile(now, before) || now.Size() != size || !now.ModTime().Equal(changed) {
			return fault.New(fault.Stale, "%s was changed by another program in the meantime; it stays as it is.", path).With("path", path)
		}
		return nil
	})
}
