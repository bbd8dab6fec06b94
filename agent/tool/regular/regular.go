package regular

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

const (
	// chunk is how much is read before the context is checked again, in bytes.
	chunk = 256 << 10

	// batch is how many directory entries are read before the context is checked again.
	batch = 512
)

// Check fails unless path leads to a regular file of an ordinary file system or to no file, with
// links followed. It returns nil information for no file.
func Check(fsys afero.Fs, path string) (fs.FileInfo, error) {
	info, err := fsys.Stat(path)
	if err != nil {
		return nil, Ordinary(fsys, path) // opening it gets the error
	}
	if err := kindError(path, info); err != nil {
		return nil, err
	}
	return info, Ordinary(fsys, path)
}

// Ordinary fails when path is in a pseudo file system or passes through one by a link.
func Ordinary(fsys afero.Fs, path string) error {
	if !onDisk(fsys) {
		return nil
	}
	if name := passes(path); name != "" {
		return pseudoError(path, name)
	}
	return nil
}

// Open opens a regular file for reading. It does not wait for anything but the file system.
func Open(fsys afero.Fs, path string) (afero.File, error) { return open(fsys, path, os.O_RDONLY) }

// OpenToWrite is Open for a file that is to be written. It does not create or truncate it.
func OpenToWrite(fsys afero.Fs, path string) (afero.File, error) {
	return open(fsys, path, os.O_WRONLY)
}

func open(fsys afero.Fs, path string, flag int) (afero.File, error) {
	f, err := intake.OpenFile(fsys, path, flag, kindError)
	if err != nil {
		return nil, err
	}
	if name := on(f); name != "" {
		_ = f.Close() // nothing was written
		return nil, pseudoError(path, name)
	}
	return f, nil
}

// TooLarge is the error of Read for a file that has more bytes than the limit.
type TooLarge struct {
	Path  string
	Limit int64
}

// Error implements error.
func (e *TooLarge) Error() string {
	return fmt.Sprintf("%s is larger than %d bytes", e.Path, e.Limit)
}

// Read returns the content of a regular file, and the file info of the opened file. A file with
// more than limit bytes is a *TooLarge, regardless of its reported size. The end of ctx ends the
// read between two pieces.
func Read(ctx context.Context, fsys afero.Fs, path string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := Open(fsys, path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	content, err := read(ctx, f, info.Size(), limit)
	if errors.Is(err, errTooLarge) {
		return nil, nil, &TooLarge{Path: path, Limit: limit}
	}
	return content, info, err
}

var errTooLarge = errors.New("too large")

// read reads at most limit bytes of a file with a reported size of size bytes.
func read(ctx context.Context, f afero.File, size, limit int64) ([]byte, error) {
	var content []byte
	if size <= limit {
		content = make([]byte, 0, size+1)
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(content) == cap(content) {
			content = slices.Grow(content, chunk)
		}
		free := content[len(content):cap(content)]
		n, err := f.Read(free[:min(len(free), chunk)])
		content = content[:len(content)+n]
		switch {
		case int64(len(content)) > limit:
			return nil, errTooLarge
		case errors.Is(err, io.EOF):
			return content, nil
		case err != nil:
			return nil, err
		}
	}
}

// Dir returns the entries of a directory by name. The end of ctx ends the read between two
// batches.
func Dir(ctx context.Context, fsys afero.Fs, path string) ([]fs.FileInfo, error) {
	f, err := intake.OpenFile(fsys, path, os.O_RDONLY|directoryFlag(fsys), anyKind)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	entries, err := list(ctx, f)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func list(ctx context.Context, f afero.File) (entries []fs.FileInfo, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		more, err := f.Readdir(batch)
		entries = append(entries, more...)
		switch {
		case errors.Is(err, io.EOF):
			return entries, nil
		case err != nil:
			return nil, err
		case len(more) == 0:
			return entries, nil
		}
	}
}

// Mounted reports whether dir, a directory that was found in one with the information parent, is
// where a pseudo file system is mounted.
func Mounted(fsys afero.Fs, dir string, info, parent fs.FileInfo) bool {
	return onDisk(fsys) && !sameDevice(info, parent) && at(dir) != ""
}

// anyKind accepts every file: reading the entries of one that is no directory fails.
func anyKind(string, fs.FileInfo) error { return nil }

func kindError(path string, info fs.FileInfo) error {
	var kind string
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return fault.New(fault.InvalidArgument, "%s is a directory; use ls to list it.", path).With("path", path)
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	default:
		kind = "a special file"
	}
	return fault.New(fault.InvalidArgument, "%s is not a regular file but %s, so it is not opened.", path, kind).With("path", path)
}

func pseudoError(path, name string) error {
	return fault.New(fault.InvalidArgument,
		"%s is not a regular file: it is in the pseudo file system %s, so it is not opened. Use bash to read it.", path, name).With("path", path)
}

// onDisk reports whether paths of fsys are those of the machine.
func onDisk(fsys afero.Fs) bool {
	_, disk := fsys.(*afero.OsFs)
	return disk
}

func directoryFlag(fsys afero.Fs) int {
	if onDisk(fsys) {
		return directory
	}
	return 0
}
