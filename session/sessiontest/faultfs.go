package sessiontest

import (
	"errors"
	"os"
	"sync"

	"github.com/spf13/afero"
)

// ErrInjected is the failure a [FaultFs] injects.
var ErrInjected = errors.New("injected fault")

// Mode says how a [FaultFs] fails.
type Mode int

// The modes of failing.
const (
	Once  Mode = iota // one operation fails, the next ones work again
	Dead              // every changing operation from then on fails: the machine is gone
	Short             // like Once, but a write puts half of its bytes down first
)

// FaultFs fails the At-th operation that could change something: opening for
// writing, write, sync, rename, remove, truncate, make directory. Reading always
// works. It is safe for concurrent use.
type FaultFs struct {
	afero.Fs
	At   int // 1-based; 0 never fails
	Mode Mode

	mu    sync.Mutex
	count int // guarded by mu
}

// Fired reports whether the fault was reached.
func (f *FaultFs) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.At > 0 && f.count >= f.At
}

func (f *FaultFs) step() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	if f.At > 0 && (f.count == f.At || f.Mode == Dead && f.count > f.At) {
		return ErrInjected
	}
	return nil
}

// OpenFile opens name; opening for writing can fail.
func (f *FaultFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		if err := f.step(); err != nil {
			return nil, &os.PathError{Op: "open", Path: name, Err: err}
		}
	}
	file, err := f.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, fs: f}, nil
}

// Create creates name.
func (f *FaultFs) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Rename renames a file.
func (f *FaultFs) Rename(from, to string) error {
	if err := f.step(); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return f.Fs.Rename(from, to)
}

// Remove removes a file.
func (f *FaultFs) Remove(name string) error {
	if err := f.step(); err != nil {
		return &os.PathError{Op: "remove", Path: name, Err: err}
	}
	return f.Fs.Remove(name)
}

// MkdirAll makes directories.
func (f *FaultFs) MkdirAll(path string, perm os.FileMode) error {
	if err := f.step(); err != nil {
		return &os.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return f.Fs.MkdirAll(path, perm)
}

type faultFile struct {
	afero.File
	fs *FaultFs
}

func (f *faultFile) Write(b []byte) (int, error) {
	if err := f.fs.step(); err != nil {
		if f.fs.Mode == Short {
			n, _ := f.File.Write(b[:len(b)/2])
			return n, err
		}
		return 0, err
	}
	return f.File.Write(b)
}

func (f *faultFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.fs.step(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, off)
}

func (f *faultFile) Sync() error {
	if err := f.fs.step(); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.fs.step(); err != nil {
		return err
	}
	return f.File.Truncate(size)
}
