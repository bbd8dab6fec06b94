package rewind

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
)

// observe returns the state of a path. The file is absent if a parent is missing.
func observe(fsys afero.Fs, path string) (change.State, error) {
	info, err := disk.Lstat(fsys, path)
	switch {
	case disk.NotThere(err):
		return change.State{Kind: change.Absent}, nil
	case err != nil:
		return change.State{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := disk.Readlink(fsys, path)
		if err != nil {
			return change.State{}, err
		}
		return change.State{Kind: change.Link, SHA256: change.Sum([]byte(target)), Size: int64(len(target))}, nil
	case !info.Mode().IsRegular():
		return change.State{Kind: change.Special, Mode: uint32(info.Mode().Perm())}, nil
	}
	f, err := fsys.Open(path)
	if err != nil {
		return change.State{}, err
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return change.State{}, err
	}
	return change.State{Kind: change.Regular, SHA256: hex.EncodeToString(h.Sum(nil)), Mode: uint32(info.Mode().Perm()), Size: n}, nil
}

// is reports whether two states are equal. All directories are equal.
func is(a, b change.State) bool {
	if a.Kind == change.Special || b.Kind == change.Special {
		return a.Kind == b.Kind
	}
	return a.Same(b)
}

// nearest returns the nearest existing directory at or above dir, and the missing ones below it, outermost first. Links and files on the
// way count as missing, too.
func nearest(fsys afero.Fs, dir string) (existing string, missing []string) {
	for {
		info, err := disk.Lstat(fsys, dir)
		if err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			return dir, missing
		}
		missing = append([]string{dir}, missing...)
		dir = filepath.Dir(dir)
	}
}

// throughLink reports whether a parent of the path is a link now.
func throughLink(fsys afero.Fs, path string) bool {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if info, err := disk.Lstat(fsys, dir); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// empty reports whether a directory is known to be empty. Not every file system refuses to remove one that is not.
func empty(fsys afero.Fs, dir string) bool {
	f, err := fsys.Open(dir)
	if err != nil {
		return false
	}
	names, err := f.Readdirnames(1)
	_ = f.Close()
	return len(names) == 0 && (err == nil || errors.Is(err, io.EOF))
}
