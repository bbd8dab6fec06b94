package tool

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxFile is the largest file that is read into memory, in bytes.
const maxFile = 64 << 20

// AbsolutePath returns the path that a model means: relative to cwd, with "~" for the home
// directory. An "@" before it, which people type to name a file, is dropped when there is
// a file only without it.
func AbsolutePath(fsys afero.Fs, home, cwd, path string) string {
	full := func(p string) string {
		switch {
		case p == "":
			return cwd
		case p == "~" && home != "":
			return home
		case strings.HasPrefix(p, "~/") && home != "":
			return filepath.Join(home, p[2:])
		case filepath.IsAbs(p):
			return filepath.Clean(p)
		default:
			return filepath.Join(cwd, p)
		}
	}
	if rest, at := strings.CutPrefix(path, "@"); at {
		_, err := fsys.Stat(full(path))
		_, restErr := fsys.Stat(full(rest))
		if err != nil && restErr == nil {
			return full(rest)
		}
	}
	return full(path)
}

// statDir fails unless there is a directory at path.
func statDir(fsys afero.Fs, path string) error {
	info, err := fsys.Stat(path)
	switch {
	case err != nil:
		return ioFault("read", path, err)
	case !info.IsDir():
		return fault.New(fault.InvalidArgument, "%s is not a directory.", path).With("path", path)
	default:
		return nil
	}
}

// readable fails for a file that must not be read into memory: one that is not regular or is too
// large. A missing file is for the caller.
func readable(fsys afero.Fs, path string) error {
	info, err := regular.Check(fsys, path)
	switch {
	case err != nil || info == nil:
		return err
	case info.Size() > maxFile:
		return fault.New(fault.InvalidArgument, "%s is %s; the limit is %s. Use bash with head, tail or sed -n to see a part of it.",
			path, sizeText(info.Size()), sizeText(maxFile)).With("path", path)
	default:
		return nil
	}
}

// ioFault words an error of the operating system for a model. The cause stays in the chain.
func ioFault(op, path string, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	if large, ok := errors.AsType[*regular.TooLarge](err); ok {
		return fault.New(fault.InvalidArgument, "%s is larger than the limit of %s. Use bash with head, tail or sed -n to see a part of it.",
			path, sizeText(large.Limit)).With("path", path)
	}
	cause := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pe.Err
	}
	kind, message := fault.IO, "Cannot "+op+" "+path+": "+cause.Error()+"."
	switch {
	case errors.Is(err, fs.ErrNotExist) && op == "read":
		kind, message = fault.NotFound, "File not found: "+path
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		kind, message = fault.NoSpace, "No space left to "+op+" "+path+"."
	case op != "read" && errors.Is(err, fs.ErrPermission):
		kind = fault.ReadOnly
	}
	return (&fault.Error{Kind: kind, Message: message, Err: err}).With("path", path)
}
