//go:build unix

package look

import (
	"fmt"
	"io/fs"
	"syscall"
)

// statOf returns the size, inode and change time of a file.
func statOf(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(info.Size(), s.Dev, s.Ino, changeTime(s))
	}
	return fmt.Sprint(info.Size())
}
