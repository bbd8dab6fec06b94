package rewind

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// pathError is an error about a path of the rewind.
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// at adds the path of a step to an error.
func at(err error, s *Step) error { return &pathError{s.name(), err} }

// refused reports whether the editor refused.
func refused(err error) bool { return fault.Is(err, fault.Denied) || fault.Is(err, fault.Stale) }

// kindOf turns an error into one with a kind and a message for the user.
func kindOf(err error) error {
	if _, known := errors.AsType[*fault.Error](err); err == nil || known {
		return err
	}
	path, where := placeOf(err)
	f := fault.New(fault.IO, "The rewind failed%s, so no file was changed: %v", where, err)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errForeign), errors.Is(err, errClosed):
		f = fault.New(fault.Stale, "%s was changed in the meantime, so no file was changed. Make a new plan and try again.", path)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		f = fault.New(fault.NoSpace, "The disk is full, so no file was changed. Free some space and try again.")
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		f = fault.New(fault.ReadOnly, "%s can't be written, so no file was changed. Make it writable and try again.", path)
	}
	if path != "" {
		f = f.With("path", path)
	}
	return f
}

// placeOf returns the path that an error is about, and the words that name it in a sentence; both are "" for an error about no path of
// the rewind, such as one of its journal.
func placeOf(err error) (path, where string) {
	if at, ok := errors.AsType[*pathError](err); ok {
		return at.path, " at " + at.path
	}
	return "", ""
}

func reversed(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// undone returns the error of a failed rewind. back is the error of undoing it, nil if that succeeded.
func undone(err, back error) error {
	if back == nil {
		return kindOf(err)
	}
	path, where := placeOf(back)
	f := fault.New(fault.IO, "The rewind failed%s and is not undone yet: %v. It is tried again with the next change of the session.", where, back)
	if path != "" {
		f = f.With("path", path)
	}
	return f
}
