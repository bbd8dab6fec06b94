//go:build unix

package present

import (
	"fmt"
	"io/fs"
	"syscall"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"
)

// writable reports whether files can be created in a directory.
func writable(fsys afero.Fs, dir string, info fs.FileInfo) bool {
	if _, disk := fsys.(*afero.OsFs); disk {
		return unix.Access(dir, unix.W_OK|unix.X_OK) == nil
	}
	return info.Mode().Perm() == 0 || info.Mode().Perm()&0o200 != 0 // file systems in memory create directories without a mode
}

// identity is equal for two names of one directory entry. Hard links count as different files: a rewind replaces names, so each name
// gets its own content back.
func identity(info fs.FileInfo) string {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Nlink != 1 {
		return ""
	}
	return fmt.Sprint(s.Dev, ":", s.Ino)
}
