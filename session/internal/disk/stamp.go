package disk

import (
	"os"
	"time"
)

// Stamp identifies the version of a file, to detect a change since it was described.
type Stamp struct {
	Size  int64
	Mtime int64  // in nanoseconds
	Ctime int64  // of the last change of any kind, which no program can set; 0 if the system does not report it
	Inode uint64 // 0 if the system does not report it
}

// restFor is the minimum age of a file at which its stamp identifies its content: a file
// system may give two changes within that time the same stamp. Two seconds is the coarsest
// resolution there is (FAT).
const restFor = 2 * time.Second

// numbered is the system's part of an info that does not come from package os.
type numbered interface {
	InodeAndChange() (inode uint64, ctime int64)
}

// StampOf returns the stamp of a file whose info was read at or after now. ok is false if
// a later change could leave the stamp unchanged.
func StampOf(info os.FileInfo, now time.Time) (s Stamp, ok bool) {
	s = Stamp{Size: info.Size(), Mtime: info.ModTime().UnixNano()}
	if n, ok := info.Sys().(numbered); ok {
		s.Inode, s.Ctime = n.InodeAndChange()
	} else {
		s.Inode, s.Ctime = inodeOf(info)
	}
	rested := now.Add(-restFor)
	// A time that does not fit into the number is unreliable.
	exact := time.Unix(0, s.Mtime).Equal(info.ModTime())
	return s, exact && !info.ModTime().After(rested) && !time.Unix(0, s.Ctime).After(rested)
}
