package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// FaultOrNil is [Fault] for an error that may be nil.
func FaultOrNil(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return Fault(op, path, err)
}

// Fault words an operating system's refusal. The cause stays in the chain.
func Fault(op, path string, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	cause := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pe.Err
	} else if le, ok := errors.AsType[*os.LinkError](err); ok {
		cause = le.Err
	}
	f := &fault.Error{Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Kind, f.Message = fault.NotFound, "File not found: "+path
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		f.Kind, f.Message = fault.NoSpace, "No space left to "+op+" "+path+"."
	case errors.Is(err, syscall.EROFS), op != "open" && op != "read" && errors.Is(err, os.ErrPermission):
		f.Kind, f.Message = fault.ReadOnly, "Cannot "+op+" "+path+": "+cause.Error()+"."
	default:
		f.Kind, f.Message = fault.IO, "Cannot "+op+" "+path+": "+cause.Error()+"."
	}
	f.Message = fault.OneLine(f.Message)
	return f.With("path", path)
}
