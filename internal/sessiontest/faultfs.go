package sessiontest

import (
	"cmp"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/spf13/afero"
)

// ErrInjected is the failure a [FaultFs] injects.
var ErrInjected = errors.New("injected fault")

// Mode is the way in which a [FaultFs] fails.
type Mode int

// The modes of failing.
const (
	Once  Mode = iota // one operation fails, the next ones work again
	Dead              // every counted operation fails from then on: the machine has crashed
	Short             // like Once, but a write writes half of its bytes first
)

// FaultFs fails the At-th operation that could change something: opening for writing, write, sync,
// truncate, closing a file opened for writing (which is closed all the same), rename, remove, make
// directory, set times or mode. With Reads also opening for reading, read, stat and reading a
// directory can fail; otherwise reading always works. It is safe for concurrent use.
type FaultFs struct {
	afero.Fs
	At    int // 1-based; 0 never fails
	Mode  Mode
	Reads bool
	On    func(op, name string) bool // which operations count; nil: all
	Err   error                      // of the failure; nil: [ErrInjected]

	mu    sync.Mutex
	count int // guarded by mu
}

// Fired reports whether the fault was reached.
func (f *FaultFs) Fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.At > 0 && f.count >= f.At
}

func (f *FaultFs) step(op, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.On != nil && !f.On(op, name) {
		return nil
	}
	f.count++
	if f.At > 0 && (f.count == f.At || f.Mode == Dead && f.count > f.At) {
		return &os.PathError{Op: op, Path: name, Err: cmp.Or(f.Err, ErrInjected)}
	}
	return nil
}

func (f *FaultFs) read(op, name string) error {
	if !f.Reads {
		return nil
	}
	return f.step(op, name)
}

// Open opens name for reading.
func (f *FaultFs) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens name; opening for writing can fail.
func (f *FaultFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	writing := flag&(os.O_WRONLY|os.O_RDWR) != 0
	fault := f.read
	if writing {
		fault = f.step
	}
	if err := fault("open", name); err != nil {
		return nil, err
	}
	file, err := f.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultFile{File: file, fs: f, writing: writing}, nil
}

// Create creates name.
func (f *FaultFs) Create(name string) (afero.File, error) {
	return f.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Stat describes name.
func (f *FaultFs) Stat(name string) (os.FileInfo, error) {
	if err := f.read("stat", name); err != nil {
		return nil, err
	}
	return f.Fs.Stat(name)
}

// Rename renames a file.
func (f *FaultFs) Rename(from, to string) error {
	if err := f.step("rename", from); err != nil {
		return err
	}
	return f.Fs.Rename(from, to)
}

// Remove removes a file.
func (f *FaultFs) Remove(name string) error {
	if err := f.step("remove", name); err != nil {
		return err
	}
	return f.Fs.Remove(name)
}

// RemoveAll removes a directory with its content.
func (f *FaultFs) RemoveAll(path string) error {
	if err := f.step("remove", path); err != nil {
		return err
	}
	return f.Fs.RemoveAll(path)
}

// Mkdir makes a directory.
func (f *FaultFs) Mkdir(name string, perm os.FileMode) error {
	if err := f.step("mkdir", name); err != nil {
		return err
	}
	return f.Fs.Mkdir(name, perm)
}

// MkdirAll makes directories.
func (f *FaultFs) MkdirAll(path string, perm os.FileMode) error {
	if err := f.step("mkdir", path); err != nil {
		return err
	}
	return f.Fs.MkdirAll(path, perm)
}

// Chmod sets a mode.
func (f *FaultFs) Chmod(name string, mode os.FileMode) error {
	if err := f.step("chmod", name); err != nil {
		return err
	}
	return f.Fs.Chmod(name, mode)
}

// Chtimes sets times.
func (f *FaultFs) Chtimes(name string, accessed, modified time.Time) error {
	if err := f.step("chtimes", name); err != nil {
		return err
	}
	return f.Fs.Chtimes(name, accessed, modified)
}

type faultFile struct {
	afero.File
	fs      *FaultFs
	writing bool
}

func (f *faultFile) step(op string) error { return f.fs.step(op, f.Name()) }
func (f *faultFile) read(op string) error { return f.fs.read(op, f.Name()) }

func (f *faultFile) Write(b []byte) (int, error) {
	if err := f.step("write"); err != nil {
		if f.fs.Mode == Short {
			n, _ := f.File.Write(b[:len(b)/2])
			return n, err
		}
		return 0, err
	}
	return f.File.Write(b)
}

func (f *faultFile) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *faultFile) WriteAt(b []byte, off int64) (int, error) {
	if err := f.step("write"); err != nil {
		if f.fs.Mode == Short {
			n, _ := f.File.WriteAt(b[:len(b)/2], off)
			return n, err
		}
		return 0, err
	}
	return f.File.WriteAt(b, off)
}

func (f *faultFile) Sync() error {
	fault := f.read // of a directory; many systems refuse that
	if f.writing {
		fault = f.step
	}
	if err := fault("sync"); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *faultFile) Truncate(size int64) error {
	if err := f.step("truncate"); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *faultFile) Close() error {
	err := f.File.Close()
	if f.writing {
		if fault := f.step("close"); fault != nil {
			return fault
		}
	}
	return err
}

func (f *faultFile) Stat() (os.FileInfo, error) {
	if err := f.read("stat"); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

func (f *faultFile) Read(b []byte) (int, error) {
	if err := f.read("read"); err != nil {
		return 0, err
	}
	return f.File.Read(b)
}

func (f *faultFile) ReadAt(b []byte, off int64) (int, error) {
	if err := f.read("read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, off)
}

func (f *faultFile) Readdir(n int) ([]os.FileInfo, error) {
	if err := f.read("readdir"); err != nil {
		return nil, err
	}
	return f.File.Readdir(n)
}

func (f *faultFile) Readdirnames(n int) ([]string, error) {
	if err := f.read("readdir"); err != nil {
		return nil, err
	}
	return f.File.Readdirnames(n)
}
