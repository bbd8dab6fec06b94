package tool

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// maxLinks is how many symbolic links a path may follow, as for the operating system.
const maxLinks = 40

// Real returns where an absolute path leads once its symbolic links are followed as the
// operating system does it: also those to what is not there, because that is where a new
// file would be made, and with ".." going up from where a link leads. A file system without
// links has none to follow.
func Real(fsys afero.Fs, path string) (string, error) {
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
		info, lstat, err := links.LstatIfPossible(next)
		if err != nil && !absent(err) {
			return "", err
		}
		if err != nil || !lstat || info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if followed++; followed > maxLinks {
			return "", fault.New(fault.IO, "Cannot write %s: too many symbolic links.", path)
		}
		to, err := links.ReadlinkIfPossible(next)
		if err != nil {
			return "", err
		}
		from, names := split(to)
		if filepath.IsAbs(to) {
			at = from
		}
		rest = append(names, rest...)
	}
	return at, nil
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

// absent reports whether there is nothing, which is also so below a file.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
