//go:build unix

package intake

import (
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// Owner returns the id of the user that a file belongs to. ok is false if the file system does
// not have it.
func Owner(info fs.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// Foreign reports whether another user than the current one, the administrator and those in
// friends could have written the file or directory: it belongs to another user, or others may
// write to it. The group counts as others unless it is the owner's private one.
func Foreign(info fs.FileInfo, friends ...int) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	const group, others = 0o020, 0o002
	if info.Mode()&others != 0 || info.Mode()&group != 0 && stat.Gid != stat.Uid && stat.Gid != 0 {
		return true
	}
	return ForeignOwner(info, friends...)
}

// ForeignOwner reports whether a file belongs to another user than the current one, the
// administrator and those in friends.
func ForeignOwner(info fs.FileInfo, friends ...int) bool {
	owner, ok := Owner(info)
	if !ok {
		return false
	}
	return owner != 0 && owner != os.Geteuid() && !slices.Contains(friends, owner)
}
