//go:build unix

package sensitive

import (
	"io/fs"
	"syscall"
)

// identities is a set of files, independent of their names.
type identities struct {
	ids map[[2]uint64]bool
}

func identify(info fs.FileInfo) (id [2]uint64, links uint64, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return id, 0, false
	}
	return [2]uint64{uint64(stat.Dev), uint64(stat.Ino)}, uint64(stat.Nlink), true //nolint:unconvert // types differ between systems
}

func (s *identities) add(info fs.FileInfo) {
	if id, _, ok := identify(info); ok {
		if s.ids == nil {
			s.ids = map[[2]uint64]bool{}
		}
		s.ids[id] = true
	}
}

func (s *identities) has(info fs.FileInfo) bool {
	id, _, ok := identify(info)
	return ok && s.ids[id]
}

// hasLinks reports whether a file may have a further name.
func hasLinks(info fs.FileInfo) bool {
	_, links, ok := identify(info)
	return ok && links > 1
}
