//go:build linux || darwin || freebsd

package pull

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeSpace returns the bytes that this user can still write in dir.
func freeSpace(dir string) (int64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // of other types on other systems
}

// linked reports whether a file has more than one name.
func linked(info os.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}
