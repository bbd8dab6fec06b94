package session

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Transcripts hold secrets: nobody but their owner may read what we write.
const (
	fileMode fs.FileMode = 0o600
	dirMode  fs.FileMode = 0o700
)

// writeBlock is how many bytes of a new file are written at a time.
const writeBlock = 256 << 10

// createFile puts a new file at path with all of its content or not at all: the
// content is written and synced under a temporary name first. An existing file is
// kind fileExists and stays as it is.
//
// The name is reserved by an empty file first, so that a file that appears in the same
// moment is never renamed over.
func createFile(fsys afero.Fs, path, suffix string, content func(io.Writer) error) error {
	if err := fsys.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return ioFault("create", filepath.Dir(path), err)
	}
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.FileExists, "%s exists already.", path).With("path", path)
	} else if err != nil {
		return ioFault("create", path, err)
	}
	reserved, err := f.Stat()
	err = errors.Join(err, f.Close())
	if err == nil {
		err = replaceFile(fsys, path, suffix, fileMode, content, func() error { return stillEmpty(fsys, path, reserved) })
	}
	if err != nil && stillEmpty(fsys, path, reserved) == nil {
		_ = fsys.Remove(path) // best effort; the error that matters is returned
	}
	return ioFaultOrNil("create", path, err)
}

// stillEmpty reports that the file at path is the empty one that was seen there. A nil
// was stands for any.
func stillEmpty(fsys afero.Fs, path string, was os.FileInfo) error {
	info, err := fsys.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return ioFault("create", path, err)
	}
	if err != nil || info.Size() > 0 || was != nil && !sameFile(info, was) {
		return fault.New(fault.Stale, "%s changed while a session was being made of it; nothing was written.", path).With("path", path)
	}
	return nil
}

// replaceFile writes content under a temporary name beside path, syncs it and
// renames it over path. unchanged is asked right before the rename; its error stops
// the replacement. Whatever fails, the file at path is the old one and the temporary
// one is gone.
func replaceFile(fsys afero.Fs, path, suffix string, mode fs.FileMode, content func(io.Writer) error, unchanged func() error) (err error) {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+suffix+".tmp")
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return ioFault("create", path, err)
	}
	defer func() {
		if err != nil {
			_ = fsys.Remove(temp) // best effort; the error that matters is returned
		}
	}()
	ahead := syncAhead{f: f, step: syncStep}
	buffered := bufio.NewWriterSize(&ahead, writeBlock)
	err = content(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	err = ahead.finish(err)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return ioFault("write", path, err)
	}
	if err := unchanged(); err != nil {
		return err
	}
	if err := fsys.Rename(temp, path); err != nil {
		return ioFault("write", path, err)
	}
	syncDir(fsys, filepath.Dir(path))
	return nil
}

// syncDir makes a new name durable. Not every file system can sync a directory, and
// the content itself is safe already, so a refusal is no error.
func syncDir(fsys afero.Fs, dir string) {
	d, err := fsys.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}

// sameFile reports whether two stats are of one file. Storage without inodes (in
// memory) cannot tell and counts as the same.
func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return false
	}
	if a.Sys() == nil || b.Sys() == nil {
		return true
	}
	return os.SameFile(a, b)
}

// copyTree copies the directory at from to to, which must not exist. Links and special files
// are left out. What cannot be copied costs no other file, and the errors of all of it are
// returned; that there is nothing at from is none.
func copyTree(fsys afero.Fs, from, to string) error {
	var failed error
	fail := func(err error) {
		if !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	err := afero.Walk(fsys, from, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			fail(err)
			return nil
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case info.IsDir():
			return fsys.MkdirAll(target, dirMode)
		case !info.Mode().IsRegular():
			return nil
		}
		fail(copyFile(fsys, path, target))
		return nil
	})
	return errors.Join(failed, err)
}

func copyFile(fsys afero.Fs, from, to string) error {
	in, err := fsys.Open(from)
	if err != nil {
		return err
	}
	out, err := fsys.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close(), in.Close()); err != nil {
		err = errors.Join(err, fsys.Remove(to)) // half a file would be taken for all of it
	}
	return err
}
