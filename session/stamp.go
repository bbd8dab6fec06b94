package session

import (
	"os"
	"time"
)

// stamp tells whether a file is still the one that was described.
type stamp struct {
	size  int64
	mtime int64  // in nanoseconds
	ctime int64  // of the last change of any kind, which no program can set; 0 where the system does not tell
	inode uint64 // 0 where the system does not tell
}

// restFor is how long a file must have rested before its stamp stands for its content: a
// file system may give two changes within that time the same stamp. Two seconds is the
// coarsest there is (FAT).
const restFor = 2 * time.Second

// stampOf returns the stamp of a file that was looked at at or after now. ok is false
// when a later change could leave the stamp as it is.
func stampOf(info os.FileInfo, now time.Time) (s stamp, ok bool) {
	s = stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}
	s.inode, s.ctime = inodeOf(info)
	rested := now.Add(-restFor)
	// A time that does not fit its number is one that nobody should rely on.
	exact := time.Unix(0, s.mtime).Equal(info.ModTime())
	return s, exact && !info.ModTime().After(rested) && !time.Unix(0, s.ctime).After(rested)
}
