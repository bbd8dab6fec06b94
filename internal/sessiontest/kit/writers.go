package kit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// Seam calls its functions at single operations on a file system; a nil func does nothing.
type Seam struct {
	afero.Fs
	OnOpen     func(name string) error           // Open, for reading
	OnStat     func(name string) error           // Stat by path
	OnOpenFile func(name string, flag int) error // OpenFile
	OnMkdir    func(name string) error           // MkdirAll
	OnRename   func(from, to string) error       // Rename
	Fstat      func(f afero.File) error          // after File.Stat of a file opened for writing
	Closed     func(name string) error           // after File.Close of a file opened for writing
	Write      func(f afero.File, b []byte) (int, error, bool)
	Trunc      func(name string) error
}

// LstatIfPossible implements [afero.Lstater] for the real file system.
func (s *Seam) LstatIfPossible(n string) (os.FileInfo, bool, error) {
	i, err := os.Lstat(n)
	return i, true, err
}

// ReadlinkIfPossible implements [afero.LinkReader] for the real file system.
func (s *Seam) ReadlinkIfPossible(n string) (string, error) { return os.Readlink(n) }

// Open calls OnOpen and opens the file unless that fails.
func (s *Seam) Open(n string) (afero.File, error) {
	if s.OnOpen != nil {
		if err := s.OnOpen(n); err != nil {
			return nil, &os.PathError{Op: "open", Path: n, Err: err}
		}
	}
	return s.Fs.Open(n)
}

// Stat calls OnStat and returns the file's info unless that fails.
func (s *Seam) Stat(n string) (os.FileInfo, error) {
	if s.OnStat != nil {
		if err := s.OnStat(n); err != nil {
			return nil, &os.PathError{Op: "stat", Path: n, Err: err}
		}
	}
	return s.Fs.Stat(n)
}

// MkdirAll calls OnMkdir and creates the directory unless that fails.
func (s *Seam) MkdirAll(n string, p os.FileMode) error {
	if s.OnMkdir != nil {
		if err := s.OnMkdir(n); err != nil {
			return &os.PathError{Op: "mkdir", Path: n, Err: err}
		}
	}
	return s.Fs.MkdirAll(n, p)
}

// Rename calls OnRename and renames the file unless that fails.
func (s *Seam) Rename(a, b string) error {
	if s.OnRename != nil {
		if err := s.OnRename(a, b); err != nil {
			return err
		}
	}
	return s.Fs.Rename(a, b)
}

// OpenFile calls OnOpenFile and opens the file unless that fails. The returned file calls the
// hooks of files opened for writing.
func (s *Seam) OpenFile(n string, flag int, p os.FileMode) (afero.File, error) {
	if s.OnOpenFile != nil {
		if err := s.OnOpenFile(n, flag); err != nil {
			return nil, &os.PathError{Op: "open", Path: n, Err: err}
		}
	}
	f, err := s.Fs.OpenFile(n, flag, p)
	if err != nil {
		return nil, err
	}
	return &seamFile{File: f, s: s}, nil
}

type seamFile struct {
	afero.File
	s *Seam
}

func (f *seamFile) Stat() (os.FileInfo, error) {
	i, err := f.File.Stat()
	if err == nil && f.s.Fstat != nil {
		if err := f.s.Fstat(f.File); err != nil {
			return nil, err
		}
	}
	return i, err
}

func (f *seamFile) Close() error {
	err := f.File.Close()
	if err == nil && f.s.Closed != nil {
		err = f.s.Closed(f.Name())
	}
	return err
}

func (f *seamFile) Write(b []byte) (int, error) {
	if f.s.Write != nil {
		if n, err, done := f.s.Write(f.File, b); done {
			return n, err
		}
	}
	return f.File.Write(b)
}

func (f *seamFile) Truncate(n int64) error {
	if f.s.Trunc != nil {
		if err := f.s.Trunc(f.Name()); err != nil {
			return err
		}
	}
	return f.File.Truncate(n)
}

// Disk returns a seam over the real file system and the path of a session in a temporary directory.
func Disk(t *testing.T) (*Seam, string) {
	dir := t.TempDir()
	return &Seam{Fs: afero.NewOsFs()}, filepath.Join(dir, "2026-01-01T00-00-00-000Z_0123456789abcdef.jsonl")
}

// StoreIn returns a store on fs that creates sessions in dir. Its root is given by roots, which may be nil.
func StoreIn(fs afero.Fs, dir string, roots func(string) (session.FileRoot, bool)) *session.Store {
	return session.NewStore(session.StoreConfig{
		Fs: fs, DirFor: func(string) (string, error) { return dir, nil }, RootFor: roots,
	})
}

const slot = `{"type":"title","v":1,"title":"My title","source":"user","updatedAt":"2026-01-01T00:00:00.000Z","pad":"`

// SlotLine returns a title slot of the full length, 256 bytes with the line end.
func SlotLine() string { return slot + strings.Repeat(" ", 255-len(slot)-2) + `"}` }
