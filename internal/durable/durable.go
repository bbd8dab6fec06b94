// Package durable writes files that survive a loss of power. A sync of a file makes its content
// durable, but not its name: that takes a sync of its directory, and the same holds for the name of
// the directory.
package durable

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"
)

// WriteFile makes the file at path, or replaces it: after an error or a crash it has its former
// content. Missing directories are made, readable by their owner only.
func WriteFile(fsys afero.Fs, path string, content []byte, mode fs.FileMode) error {
	return Replace(fsys, path, content, mode, func() error { return nil })
}

// Replace is WriteFile if check, which is called as late as possible, returns nil. Else it returns the error
// of check and changes nothing.
func Replace(fsys afero.Fs, path string, content []byte, mode fs.FileMode, check func() error) (err error) {
	if err := MakeDirs(fsys, filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp := path + "." + rand.Text()[:8] + ".tmp"
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = check()
	}
	if err == nil {
		err = Rename(fsys, temp, path)
	}
	if err != nil {
		_ = fsys.Remove(temp) // best effort; the error that matters is returned
		return err
	}
	SyncDir(fsys, filepath.Dir(path))
	return nil
}

// MakeDirs makes the directory at path and its missing parents.
func MakeDirs(fsys afero.Fs, path string, mode fs.FileMode) error {
	var missing []string
	for dir := filepath.Clean(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := fsys.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append(missing, dir)
	}
	if err := fsys.MkdirAll(path, mode); err != nil {
		return err
	}
	for _, dir := range missing {
		SyncDir(fsys, filepath.Dir(dir))
	}
	return nil
}

// SyncDir makes the names in dir durable. Not every file system can sync a directory, and the
// content of the files is safe already, so a refusal is ignored.
func SyncDir(fsys afero.Fs, dir string) {
	d, err := fsys.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}
