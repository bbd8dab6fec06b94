// Package disk has file functions for the packages of changes: a stat that does not follow links, and error messages for users.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/filestat"
)

// Lstat is [filestat.Lstat].
func Lstat(fsys afero.Fs, path string) (os.FileInfo, error) { return filestat.Lstat(fsys, path) }

// Readlink returns the target of a link.
func Readlink(fsys afero.Fs, path string) (string, error) {
	if l, ok := fsys.(afero.LinkReader); ok {
		return l.ReadlinkIfPossible(path)
	}
	return "", &os.PathError{Op: "readlink", Path: path, Err: afero.ErrNoReadlink}
}

// NotThere reports whether an error of [Lstat] means that the path does not exist.
func NotThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Fault turns an error of the operating system into one for the user, which wraps it. An error that already has a kind is returned
// unchanged.
func Fault(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	cause := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pe.Err
	} else if le, ok := errors.AsType[*os.LinkError](err); ok {
		cause = le.Err
	}
	kind, message := fault.IO, "Cannot "+op+" "+path+": "+cause.Error()+"."
	switch {
	case errors.Is(err, fs.ErrNotExist) && op == "read":
		kind, message = fault.NotFound, "File not found: "+path+"."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		kind, message = fault.NoSpace, "No space left to "+op+" "+path+"."
	case errors.Is(err, syscall.EROFS), op != "read" && errors.Is(err, fs.ErrPermission):
		kind = fault.ReadOnly
	}
	return (&fault.Error{Kind: kind, Message: fault.OneLine(message), Err: err}).With("path", path)
}

// IsLink returns the error for a file or directory of the session that is a link.
func IsLink(path string) error {
	return fault.New(fault.OutsideRoot, "%s is a link, so the session can't store files there. Remove the link.", path).With("path", path)
}
