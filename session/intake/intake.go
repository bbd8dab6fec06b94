package intake

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/afero"
)

// Refused is the error for a file that exists and must not be read.
type Refused struct {
	Path string
	Why  string // completes "the file is not read: "
}

func (r *Refused) Error() string { return fmt.Sprintf("%s is not read: %s", r.Path, r.Why) }

// File is a file that was read.
type File struct {
	Content []byte
	Info    fs.FileInfo // of the open file
	Cut     bool        // the file has more than Content
}

// ReadBelow reads up to limit bytes of the file called name in or below dir, the directory of a
// workspace. The error is a [*Refused] for a file that is not regular or that a symbolic link
// puts outside of dir, and satisfies errors.Is(err, fs.ErrNotExist) for a missing file.
func ReadBelow(fsys afero.Fs, dir, name string, limit int64) (File, error) {
	path := filepath.Join(dir, name)
	f, err := openBelow(fsys, dir, name)
	if err != nil {
		return File{}, err
	}
	return read(f, path, limit)
}

// Read reads up to limit bytes of the user's own file at path, which may be a symbolic link. The
// error is a [*Refused] for a file that is not regular.
func Read(fsys afero.Fs, path string, limit int64) (File, error) {
	f, err := Open(fsys, path)
	if err != nil {
		return File{}, err
	}
	return read(f, path, limit)
}

// ReadAll is [Read] for a file that is of no use in part: a longer one is refused.
func ReadAll(fsys afero.Fs, path string, limit int64) ([]byte, error) {
	f, err := Read(fsys, path, limit)
	if err == nil && f.Cut {
		err = &Refused{path, fmt.Sprintf("it is longer than %d bytes", limit)}
	}
	return f.Content, err
}

// Open opens the user's own file at path for reading. It does not wait for a pipe's other end,
// and fails with a [*Refused] unless the file is regular.
func Open(fsys afero.Fs, path string) (afero.File, error) {
	return OpenFile(fsys, path, os.O_RDONLY, regular)
}

// OpenFile opens a file or directory with the flags of [os.OpenFile]. It does not wait for a pipe's
// other end. check refuses a file by its kind: it is called for the open file, so that a path that
// changes meanwhile makes no difference, and for a file system whose opening may wait also before.
func OpenFile(fsys afero.Fs, path string, flag int, check func(path string, info fs.FileInfo) error) (afero.File, error) {
	switch fsys.(type) {
	case *afero.OsFs:
		flag |= nonblock
	case *afero.MemMapFs: // nothing waits in memory
	default:
		if info, err := fsys.Stat(path); err == nil {
			if err := check(path, info); err != nil {
				return nil, err
			}
		}
		flag |= nonblock
	}
	f, err := fsys.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	return checked(f, path, check)
}

// openBelow is Open within a directory.
func openBelow(fsys afero.Fs, dir, name string) (afero.File, error) {
	path := filepath.Join(dir, name)
	if !filepath.IsLocal(name) {
		return nil, &Refused{path, "it is outside of its folder"}
	}
	if _, disk := fsys.(*afero.OsFs); !disk {
		return openPlain(fsys, path)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// The root opens each part of the name without following links, and itself follows those
	// that stay in the directory.
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err == nil {
		return checked(f, path, regular)
	}
	if info, lstatErr := root.Lstat(name); lstatErr == nil && info.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, fs.ErrNotExist) {
		return nil, &Refused{path, "it is a symbolic link that leaves its folder"}
	}
	return nil, err
}

// openPlain opens a file of a file system that has no roots. Links are not followed at all.
func openPlain(fsys afero.Fs, path string) (afero.File, error) {
	if links, ok := fsys.(afero.Symlinker); ok {
		info, lstat, err := links.LstatIfPossible(path)
		if err != nil {
			return nil, err
		}
		if lstat && info.Mode()&fs.ModeSymlink != 0 {
			return nil, &Refused{path, "it is a symbolic link"}
		}
	}
	return Open(fsys, path)
}

// checked closes an open file if check refuses it.
func checked(f afero.File, path string, check func(path string, info fs.FileInfo) error) (afero.File, error) {
	info, err := f.Stat()
	if err == nil {
		err = check(path, info)
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

func regular(path string, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return &Refused{path, "it is a directory"}
	default:
		return &Refused{path, "it is a pipe, a socket or a device"}
	}
}

func read(f afero.File, path string, limit int64) (File, error) {
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return File{}, fmt.Errorf("read %s: %w", path, err)
	}
	if int64(len(content)) > limit {
		return File{Content: content[:limit], Info: info, Cut: true}, nil
	}
	return File{Content: content, Info: info}, nil
}

// Planted reports whether another user may have put a file of a project into dir: into the working
// directory cwd, which the user chose, if everyone can create files there, and into one above it if the
// file belongs neither to the user nor to the owner of the working directory, who could put the same file
// there.
func Planted(fsys afero.Fs, cwd, dir string, file fs.FileInfo) bool {
	const everyone = 0o002
	info, err := fsys.Stat(cwd)
	if err != nil {
		return Foreign(file)
	}
	open := info.Mode()&everyone != 0
	if dir == cwd {
		return open && ForeignOwner(file)
	}
	if owner, known := Owner(info); known && !open {
		return Foreign(file, owner)
	}
	return Foreign(file)
}
