// Package peerfile changes files of the user that terminal programs change too: their settings and their
// keys.
//
// A change replaces a few bytes and keeps the others. It takes the lock of the program, and a file that
// cannot be changed like that stays as it is.
package peerfile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/filestat"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// File is a file of the user. Fs, Path and Max must be set.
type File struct {
	Fs    afero.Fs
	Path  string
	Max   int64         // the size above which it is not changed, in bytes
	Lock  Lock          // of the program that changes it too
	Stale time.Duration // the age from which a lock is abandoned; 0: 10 s
	Mode  fs.FileMode   // of the changed file; 0 keeps that of the file, or is 0600 for a new one
	Own   bool          // it must not belong to another user

	// Missing returns an error if a missing file must not be created; nil: it may be.
	Missing func() error
}

// errChanged is the error for a file that another program changed meanwhile. It never leaves the package.
var errChanged = errors.New("another program changed the file")

// ByteOrderMark may be the beginning of a file. It is no part of the content for an edit.
const ByteOrderMark = "\uFEFF"

// WithoutMark returns the content of a file without its byte order mark.
func WithoutMark(content []byte) []byte { return bytes.TrimPrefix(content, []byte(ByteOrderMark)) }

// Change replaces the file by what edit makes of its content, which is empty for a missing file. A file
// that another program changes meanwhile is read again. After an error the file is unchanged.
func (f File) Change(ctx context.Context, edit func(content []byte) ([]byte, error)) error {
	const attempts = 3
	err := errChanged
	for n := 0; n < attempts && errors.Is(err, errChanged); n++ {
		err = f.changeOnce(ctx, edit)
	}
	return err
}

func (f File) changeOnce(ctx context.Context, edit func(content []byte) ([]byte, error)) error {
	release, err := f.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	content, mode, err := f.read()
	if err != nil {
		return err
	}
	mark := ""
	if bytes.HasPrefix(content, []byte(ByteOrderMark)) {
		mark = ByteOrderMark
	}
	edited, err := edit(WithoutMark(content))
	if err != nil {
		return err
	}
	edited = append([]byte(mark), edited...)
	if bytes.Equal(edited, content) {
		return nil
	}
	if f.Mode != 0 {
		mode = f.Mode
	}
	return durable.Replace(f.Fs, f.Path, edited, mode, func() error {
		now, _, err := f.read()
		if err == nil && !bytes.Equal(now, content) {
			err = errChanged
		}
		return err
	})
}

// read returns the content of the file and its mode.
func (f File) read() (content []byte, mode fs.FileMode, err error) {
	info, err := filestat.Lstat(f.Fs, f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if f.Missing != nil {
			err = f.Missing()
		} else {
			err = nil
		}
		return nil, 0o600, err
	}
	if err != nil {
		return nil, 0, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return nil, 0, errors.New("it is a link")
	}
	if f.Own && intake.ForeignOwner(info) {
		return nil, 0, errors.New("it belongs to another user")
	}
	content, err = intake.ReadAll(f.Fs, f.Path, f.Max)
	return content, info.Mode().Perm(), err
}

// Newline returns the line ending of a file.
func Newline(content []byte) string {
	if first, _, found := strings.Cut(string(content), "\n"); found && strings.HasSuffix(first, "\r") {
		return "\r\n"
	}
	return "\n"
}

// Reason returns an error on one line, for the end of a sentence.
func Reason(err error) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "yaml: "), "\n")
	return strings.TrimSuffix(line, ".")
}
