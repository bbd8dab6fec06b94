package indexfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

const (
	// DefaultMax is the usual limit of [Dir.Max].
	DefaultMax = 256 << 20

	dirMode  = 0o700
	fileMode = 0o600

	tmpEnd    = ".tmp"
	tmpRests  = time.Hour      // a temporary file of that age was left by a process that died
	noteUseIn = 24 * time.Hour // how exactly the last use of a file is known
)

// Dir is the directory of the files. Several processes may use it at the same time: files are replaced as a
// whole, and a reader keeps the one it has open.
type Dir struct {
	Fs   afero.Fs
	Path string
	Max  int64 // of all files of this package, in bytes; the ones used least recently go first
	Now  func() time.Time
}

// Name returns the name, without an ending, of the files that belong to path.
func Name(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:16])
}

// Open opens a file. It fails if there is none or if its head is damaged.
func (d Dir) Open(name string) (*File, error) {
	path := filepath.Join(d.Path, name)
	// Opening a named pipe would wait for a writer, and a link may lead to a file that isn't ours.
	info, err := disk.Lstat(d.Fs, path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, ErrDamaged
	}
	f, err := d.Fs.Open(path)
	if err != nil {
		return nil, err
	}
	x, err := read(f)
	if err != nil {
		_ = f.Close() // it was only read
		return nil, err
	}
	if whole {
		if err := x.copy(f); err != nil {
			return nil, err
		}
	}
	if now := d.Now(); now.Sub(info.ModTime()) > noteUseIn {
		_ = d.Fs.Chtimes(path, now, now) // it is then removed too early at worst
	}
	return x, nil
}

// whole says that a file is read into memory and closed when it is opened. Windows replaces no open file, and a session
// can be open for hours: in that time, no reader could replace its index file.
const whole = runtime.GOOS == "windows"

// Remove removes a file that is of no use.
func (d Dir) Remove(name string) { _ = d.Fs.Remove(filepath.Join(d.Path, name)) }

// trim removes the files used least recently, but not the one called keep, until no more than Max bytes are
// left, and temporary files of processes that died.
func (d Dir) trim(keep string) {
	files, err := afero.ReadDir(d.Fs, d.Path)
	if err != nil {
		return
	}
	total := int64(0)
	for _, f := range files {
		switch {
		case isOwn(f), isTemp(f) && d.Now().Sub(f.ModTime()) <= tmpRests:
			total += f.Size()
		case isTemp(f):
			d.Remove(f.Name())
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return cmp.Compare(a.ModTime().UnixNano(), b.ModTime().UnixNano()) })
	for _, f := range files {
		if total <= d.Max {
			return
		}
		if f.Name() != keep && isOwn(f) {
			d.Remove(f.Name())
			total -= f.Size()
		}
	}
}
