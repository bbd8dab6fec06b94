// Package spool keeps a text between its making and its sending, for a receiver that must know its length before its first
// byte. The beginning is kept in memory, the rest in a temporary file that only the user can read.
package spool

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/afero"
)

// held is how much of a text is kept in memory, in bytes.
const held = 1 << 20

// Spool is a text. Write and WriteTo must not be called at the same time; Close may be called at any time after the last
// Write, and several times.
type Spool struct {
	fs   afero.Fs
	head []byte
	file afero.File // the rest; nil: all is in head
	name string     // of the file as long as it must be removed
	size int64
}

// New returns an empty text whose file would be in the temporary directory of fs.
func New(fs afero.Fs) *Spool { return &Spool{fs: fs} }

// Len returns the length of the text in bytes.
func (s *Spool) Len() int64 { return s.size }

// Write appends b to the text.
func (s *Spool) Write(b []byte) (int, error) {
	if s.file == nil && len(s.head)+len(b) <= held {
		s.head = append(s.head, b...)
		s.size += int64(len(b))
		return len(b), nil
	}
	if s.file == nil {
		if err := s.open(); err != nil {
			return 0, err
		}
	}
	n, err := s.file.Write(b)
	s.size += int64(n)
	if err != nil {
		err = fmt.Errorf("write a temporary file: %w", err)
	}
	return n, err
}

// open creates the file. Where the system allows it, the file has no name from then on, so that nothing is left behind
// when the process dies.
func (s *Spool) open() error {
	f, err := afero.TempFile(s.fs, "", "xcsh-ls-answer-")
	if err != nil {
		return fmt.Errorf("create a temporary file: %w", err)
	}
	s.file, s.name = f, f.Name()
	if s.fs.Remove(s.name) == nil {
		s.name = ""
	}
	return nil
}

// WriteTo writes the text to w. It may be called again.
func (s *Spool) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(s.head)
	if err != nil || s.file == nil {
		return int64(n), err
	}
	rest := io.NewSectionReader(s.file, 0, s.size-int64(len(s.head)))
	m, err := io.Copy(struct{ io.Writer }{w}, rest)
	if err == nil && m < rest.Size() {
		err = fmt.Errorf("read a temporary file: %w", io.ErrUnexpectedEOF)
	}
	return int64(n) + m, err
}

// Close forgets the text and removes its file.
func (s *Spool) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.name != "" {
		if removed := s.fs.Remove(s.name); err == nil && !os.IsNotExist(removed) {
			err = removed
		}
	}
	s.file, s.name, s.head, s.size = nil, "", nil, 0
	return err
}
