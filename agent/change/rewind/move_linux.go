package rewind

import (
	"errors"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"
)

// exchange swaps two paths atomically, so that the displaced file can be checked. done is false if the file system can't do this.
func exchange(fsys afero.Fs, a, b string) (done bool, err error) {
	if _, ours := fsys.(*afero.OsFs); !ours {
		return false, nil
	}
	err = unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if unable(err) {
		return false, nil
	}
	return err == nil, err
}

// moveNew renames a file unless the new path exists.
func moveNew(fsys afero.Fs, from, to string) error {
	if _, ours := fsys.(*afero.OsFs); !ours {
		return fsys.Rename(from, to)
	}
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	switch {
	case unable(err):
		return fsys.Rename(from, to)
	case errors.Is(err, unix.EEXIST):
		return errForeign
	}
	return err
}

// unable reports whether the file system or the kernel does not support these renames.
func unable(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM)
}
