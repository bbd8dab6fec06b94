//go:build !linux && !darwin && !freebsd && !netbsd

package disk

import "os"

// inodeOf is for systems that do not report it; size and time must suffice there.
func inodeOf(os.FileInfo) (inode uint64, ctime int64) { return 0, 0 }
