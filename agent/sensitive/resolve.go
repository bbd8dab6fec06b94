package sensitive

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxLinks is how many symbolic links a path may follow. No operating system follows more.
const maxLinks = 255

// Resolve returns the target of an absolute path after its symbolic links are followed the way the
// operating system does it. Names that do not exist, and those below a directory that cannot be
// read, stay unchanged. A file system without links has none to follow.
func Resolve(fsys afero.Fs, path string) string {
	at, _ := follow(fsys, path, func(error) error { return nil })
	return at
}

// Target is Resolve for a path that is about to be used: it fails for a directory that cannot be
// read and for too many links. It follows links to missing files, because a write through such a
// link creates its target.
func Target(fsys afero.Fs, path string) (string, error) {
	return follow(fsys, path, func(err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil
		}
		return err
	})
}

// follow resolves a path; ".." is relative to the target of a link. A name that cannot be resolved
// stays unchanged unless check returns an error for the reason.
func follow(fsys afero.Fs, path string, check func(error) error) (string, error) {
	links, ok := fsys.(afero.Symlinker)
	if !ok {
		return filepath.Clean(path), nil
	}
	at, rest := split(path)
	for followed := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == ".." {
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		to, err := readLink(links, next)
		if to != "" {
			followed++
		}
		if followed > maxLinks {
			to, err = "", fault.New(fault.IO, "Cannot resolve %s: too many symbolic links.", path)
		}
		if err != nil && check(err) != nil {
			return "", err
		}
		if to == "" {
			at = next
			continue
		}
		root, names := split(to)
		if filepath.IsAbs(to) {
			at = root
		}
		rest = append(names, rest...)
	}
	return at, nil
}

// readLink returns the target of a link as it is stored, "" for a file that is no link.
func readLink(links afero.Symlinker, path string) (string, error) {
	info, _, err := links.LstatIfPossible(path)
	if err != nil || info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return "", err
	}
	to, err := links.ReadlinkIfPossible(path)
	if info.Mode()&fs.ModeSymlink == 0 {
		err = nil // an irregular file may be a link, such as a junction of Windows, or none
	}
	return to, err
}

// split returns the root of a path and the names below it.
func split(path string) (root string, names []string) {
	volume := filepath.VolumeName(path)
	for name := range strings.SplitSeq(filepath.ToSlash(path[len(volume):]), "/") {
		if name != "" && name != "." {
			names = append(names, name)
		}
	}
	return volume + string(filepath.Separator), names
}
