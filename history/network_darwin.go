package history

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// network reports whether dir, or the directory in which it will be made, is on a network file
// system.
func network(dir string) bool {
	var stat unix.Statfs_t
	for unix.Statfs(dir, &stat) != nil {
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
	return stat.Flags&unix.MNT_LOCAL == 0
}
