//go:build !linux && !darwin

package tamper

import "io/fs"

// changedAt is when a file was modified, in ns.
func changedAt(info fs.FileInfo) int64 { return info.ModTime().UnixNano() }
