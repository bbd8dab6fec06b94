package disk

import (
	"os"
	"syscall"
)

// inodeOf returns a file's number and the time of its last change of any kind.
func inodeOf(info os.FileInfo) (inode uint64, ctime int64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino, s.Ctim.Nano()
	}
	return 0, 0
}
