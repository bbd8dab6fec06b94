//go:build !unix

package history

import "io/fs"

// ownedByUs reports true: permissions here are not those of Unix.
func ownedByUs(fs.FileInfo) bool { return false }
