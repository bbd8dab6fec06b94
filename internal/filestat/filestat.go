// Package filestat describes files of any storage, with or without links and inodes.
package filestat

import (
	"os"

	"github.com/spf13/afero"
)

// Lstat describes a path without following a link, if the storage has links.
func Lstat(fsys afero.Fs, path string) (os.FileInfo, error) {
	if l, ok := fsys.(afero.Lstater); ok {
		info, _, err := l.LstatIfPossible(path)
		return info, err
	}
	return fsys.Stat(path)
}

// Same reports whether two stats are of one file. Storage without inodes (in memory)
// cannot distinguish files; there they count as the same.
func Same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return false
	}
	if a.Sys() == nil || b.Sys() == nil {
		return true
	}
	return os.SameFile(a, b)
}
