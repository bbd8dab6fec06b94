//go:build !unix

package sensitive

import (
	"io/fs"
	"os"
	"slices"
)

// identities is a set of files, independent of their names.
type identities struct {
	infos []fs.FileInfo
}

func (s *identities) add(info fs.FileInfo) { s.infos = append(s.infos, info) }

func (s *identities) has(info fs.FileInfo) bool {
	return slices.ContainsFunc(s.infos, func(own fs.FileInfo) bool { return os.SameFile(own, info) })
}

// hasLinks reports whether a file may have a further name.
func hasLinks(fs.FileInfo) bool { return true }
