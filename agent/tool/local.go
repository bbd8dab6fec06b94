package tool

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Local is a [Workspace] without an editor: the files of a file system. It is safe for concurrent
// use as far as the file system is.
type Local struct{ Fs afero.Fs }

// A new file gets the permissions of the user's umask, like one of an editor.
const (
	newFileMode fs.FileMode = 0o666
	newDirMode  fs.FileMode = 0o777
)

// ReadFile implements [Workspace].
func (l Local) ReadFile(ctx context.Context, path string) (File, error) {
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	if err := readable(l.Fs, path); err != nil {
		return File{}, err
	}
	content, info, err := regular.Read(ctx, l.Fs, path, maxFile)
	switch {
	case ctx.Err() != nil:
		return File{}, ctx.Err()
	case err != nil:
		return File{}, ioFault("read", path, err)
	}
	return File{Content: content, Exists: true, Info: info}, nil
}

// WriteFile implements [Workspace]. The content appears whole or not at all, even if the machine
// stops: it is written beside the file and renamed over it. The file keeps its mode; if the path is
// a symbolic link, its target is written. A file has changed if its content differs from the
// content that was read.
//
// Differs: a file with several hard links loses the others, as with most editors.
func (l Local) WriteFile(ctx context.Context, _, path string, was File, content []byte) (Saved, error) {
	target, err := sensitive.Target(l.Fs, path)
	if err == nil {
		err = ctx.Err() // the last chance to cancel: a write that has begun is completed
	}
	switch {
	case err != nil:
	case was.Exists:
		err = l.replace(ctx, target, was, content)
	default:
		err = l.create(target, content)
	}
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		err = ioFault("write", path, err)
	}
	return Saved{}, err
}

func (l Local) replace(ctx context.Context, path string, was File, content []byte) error {
	// A rename does not ask whether the file itself may be written.
	f, err := regular.OpenToWrite(l.Fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return stale(path, "no longer exists")
	} else if err != nil {
		return err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return l.swap(path, info.Mode().Perm(), content, func() error {
		now, _, err := regular.Read(ctx, l.Fs, path, maxFile)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return stale(path, "no longer exists")
		case err != nil:
			return err
		case !bytes.Equal(now, was.Content):
			return stale(path, "changed since it was read")
		}
		return nil
	})
}

// create makes the file and its directories. The name is reserved by an empty file
// first, so that one that appears in the same moment is never renamed over.
func (l Local) create(path string, content []byte) error {
	if err := l.Fs.MkdirAll(filepath.Dir(path), newDirMode); err != nil {
		return ioFault("create", filepath.Dir(path), err)
	}
	f, err := l.Fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	if errors.Is(err, fs.ErrExist) {
		return stale(path, "was created in the meantime")
	} else if err != nil {
		return err
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Close()); err == nil {
		err = l.swap(path, info.Mode().Perm(), content, func() error { return l.stillEmpty(path) })
	}
	if err != nil && l.stillEmpty(path) == nil {
		_ = l.Fs.Remove(path) // best effort; the error that matters is returned
	}
	return err
}

func (l Local) stillEmpty(path string) error {
	if info, err := l.Fs.Stat(path); err != nil || info.Size() > 0 {
		return stale(path, "was created in the meantime")
	}
	return nil
}

// swap writes content beside path and renames it over path, after unchanged agreed.
func (l Local) swap(path string, mode fs.FileMode, content []byte, unchanged func() error) (err error) {
	temp := filepath.Join(filepath.Dir(path), ".xcsh-"+rand.Text()[:8]+".tmp")
	f, err := l.Fs.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = l.Fs.Remove(temp) // best effort; the error that matters is returned
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	// The umask may have removed bits that the file had.
	if err := l.Fs.Chmod(temp, mode); err != nil {
		return err
	}
	if err := unchanged(); err != nil {
		return err
	}
	return durable.Rename(l.Fs, temp, path)
}

func stale(path, how string) error {
	return fault.New(fault.Stale, "%s %s; nothing was written. Read it again.", path, how).With("path", path)
}
