package disk

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/filestat"
)

// Transcripts hold secrets: only their owner may read the files written here.
const (
	FileMode fs.FileMode = 0o600
	DirMode  fs.FileMode = 0o700
)

// writeBlock is the number of bytes of a new file that are written at a time.
const writeBlock = 256 << 10

// Create puts a new file at path with all of its content or not at all: the content is
// written and synced under a temporary name first. An existing file is unchanged, and the
// error is of kind fileExists.
//
// The name is reserved by an empty file first, so that a file that appears at the same
// moment is never replaced by the rename.
func Create(fsys afero.Fs, path, suffix string, content func(io.Writer) error) error {
	if err := durable.MakeDirs(fsys, filepath.Dir(path), DirMode); err != nil {
		return Fault("create", filepath.Dir(path), err)
	}
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, FileMode)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.FileExists, "%s exists already.", path).With("path", path)
	} else if err != nil {
		return Fault("create", path, err)
	}
	reserved, err := f.Stat()
	err = errors.Join(err, f.Close())
	if err == nil {
		err = Replace(fsys, path, suffix, FileMode, content, func() error { return StillEmpty(fsys, path, reserved) })
	}
	if err != nil && StillEmpty(fsys, path, reserved) == nil {
		_ = fsys.Remove(path) // best effort; the error that matters is returned
	}
	return FaultOrNil("create", path, err)
}

// StillEmpty checks that the file at path is the empty one described by was, or any empty
// one if was is nil.
func StillEmpty(fsys afero.Fs, path string, was os.FileInfo) error {
	info, err := fsys.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Fault("create", path, err)
	}
	if err != nil || info.Size() > 0 || was != nil && !SameFile(info, was) {
		return fault.New(fault.Stale, "%s changed while a session was being made of it; nothing was written.", path).With("path", path)
	}
	return nil
}

// Replace writes content under a temporary name beside path, syncs it and renames it over
// path. unchanged is called right before the rename; its error stops the replacement.
// After any failure the file at path is the old one and the temporary one is gone.
func Replace(fsys afero.Fs, path, suffix string, mode fs.FileMode, content func(io.Writer) error, unchanged func() error) (err error) {
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+suffix+".tmp")
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return Fault("create", path, err)
	}
	defer func() {
		if err != nil {
			_ = fsys.Remove(temp) // best effort; the error that matters is returned
		}
	}()
	buffered := bufio.NewWriterSize(f, writeBlock)
	err = content(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return Fault("write", path, err)
	}
	if err := unchanged(); err != nil {
		return err
	}
	if err := durable.Rename(fsys, temp, path); err != nil {
		return Fault("write", path, err)
	}
	durable.SyncDir(fsys, filepath.Dir(path))
	return nil
}

// SameFile is [filestat.Same].
func SameFile(a, b os.FileInfo) bool { return filestat.Same(a, b) }

// Copied is the action of [CopyTree] for a file.
type Copied int

// Files are copied, left out, or hard-linked where the file system supports it, for files that never change.
const (
	Copy Copied = iota
	Skip
	Share
)

// CopyTree copies the directory at from to to, which must not exist. Links and special files
// are left out. how returns the action for a file, whose path is relative with slashes. A file that cannot be copied does not affect
// the others, and all errors are returned, joined; a missing from is not an error.
func CopyTree(fsys afero.Fs, from, to string, how func(rel string) Copied) error {
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
			return fsys.MkdirAll(target, DirMode)
		case !info.Mode().IsRegular():
			return nil
		}
		switch how(filepath.ToSlash(rel)) {
		case Skip:
			return nil
		case Share:
			if link(fsys, path, target) == nil {
				return nil
			}
		case Copy:
		}
		fail(copyFile(fsys, path, target))
		return nil
	})
	return errors.Join(failed, err)
}

// link creates a hard link. It only works on the real file system.
func link(fsys afero.Fs, from, to string) error {
	if _, ours := fsys.(*afero.OsFs); !ours {
		return errors.ErrUnsupported
	}
	return os.Link(from, to) //nolint:forbidigo // afero has no hard links; without one the file is copied
}

func copyFile(fsys afero.Fs, from, to string) error {
	in, err := fsys.Open(from)
	if err != nil {
		return err
	}
	out, err := fsys.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, FileMode)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close(), in.Close()); err != nil {
		err = errors.Join(err, fsys.Remove(to)) // half a file would be mistaken for all of it
	}
	return err
}
