package session

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"
)

// source provides the payloads: the content in memory, or an open file.
type source struct {
	mem  []byte
	file afero.File
	size int64      // of the file when it was indexed
	mu   sync.Mutex // afero's in-memory files keep a position even for ReadAt

	broken atomic.Pointer[error] // why nothing can be read any more
}

// fail makes every later read of the file fail with err.
func (s *source) fail(err error) { s.broken.CompareAndSwap(nil, &err) }

// failed returns the error of fail, or nil.
func (s *source) failed() error {
	if err := s.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// read returns n bytes from off on. They must not be modified.
func (s *source) read(off int64, n int) ([]byte, error) {
	if s.file == nil {
		return s.mem[off : off+int64(n) : off+int64(n)], nil
	}
	b := make([]byte, n)
	if err := s.readFull(b, off); err != nil {
		return nil, err
	}
	return b, nil
}

// readFull fills b from an open file, starting at off. A file that is too short was
// truncated since it was indexed.
func (s *source) readFull(b []byte, off int64) error {
	if err := s.failed(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failed(); err != nil { // it may have failed while this waited for release
		return err
	}
	got, err := s.file.ReadAt(b, off)
	switch {
	case got == len(b):
		return nil
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errTruncated
	}
	return err
}

// errTruncated means that the file lost bytes since it was indexed.
var errTruncated = errors.New("it became shorter while it was open")

// errChanged means that the file has other bytes than when it was indexed.
var errChanged = errors.New("it was changed while it was open")

// borrowed is the source as a file whose Close does nothing.
type borrowed struct{ lockedReader }

func (borrowed) Close() error { return nil }

// copyTo writes the source's bytes to w.
func (s *source) copyTo(w io.Writer) error {
	if s.file == nil {
		_, err := w.Write(s.mem)
		return err
	}
	_, err := io.Copy(w, io.NewSectionReader(lockedReader{s}, 0, s.size))
	return err
}

// len returns the size of the source in bytes.
func (s *source) len() int64 { return max(s.size, int64(len(s.mem))) }

// endsLine reports whether the source is empty or its last byte a newline.
func (s *source) endsLine() bool {
	size := s.len()
	if size == 0 {
		return true
	}
	last, err := s.read(size-1, 1)
	return err == nil && last[0] == '\n'
}

type lockedReader struct{ s *source }

func (r lockedReader) ReadAt(b []byte, off int64) (int, error) {
	if r.s.file == nil {
		return bytes.NewReader(r.s.mem).ReadAt(b, off)
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.s.file.ReadAt(b, off)
}

// release closes the file so that it can be replaced on a system that replaces no open file. Reads wait for back, which
// opens the file again, or makes them fail if it was replaced.
func (s *source) release(fs afero.Fs, path string) (back func(replaced bool), err error) {
	if s.file == nil {
		return func(bool) {}, nil
	}
	s.mu.Lock()
	err = s.file.Close()
	return func(replaced bool) {
		defer s.mu.Unlock()
		if replaced {
			s.fail(errChanged)
			return
		}
		file, err := fs.Open(path)
		if err != nil {
			s.fail(err)
			return
		}
		s.file = file
	}, err
}

// Close closes the file, if there is one and it was not released for good.
func (s *source) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.failed() != nil && errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
