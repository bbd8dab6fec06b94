//go:build !unix

package intake

import "io/fs"

// Owner returns the id of the user that a file belongs to. ok is false if the file system does
// not have it.
func Owner(fs.FileInfo) (uid int, ok bool) { return 0, false }

// Foreign reports whether another user could have written the file, if the system can
// determine that.
func Foreign(fs.FileInfo, ...int) bool { return false }

// ForeignOwner reports whether a file belongs to another user, if the system can determine
// that.
func ForeignOwner(fs.FileInfo, ...int) bool { return false }
