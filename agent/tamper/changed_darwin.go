package tamper

import (
	"io/fs"
	"syscall"
)

// changedAt is when a file or its metadata changed, in ns. Unlike the time of the last
// modification, a program cannot set it.
func changedAt(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ctimespec.Nano()
	}
	return info.ModTime().UnixNano()
}
