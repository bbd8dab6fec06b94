package upkeep

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Trashed is one session in the trash.
type Trashed struct {
	Dir       string // argument of [Untrash]
	File      string // the session in the trash
	Path      string // its original path, to which it would be restored
	TrashedAt string // RFC 3339, UTC
}

// ListTrash returns the items that can be restored from the trash of the roots, the newest
// first. A directory there that is not ours, or that cannot be read, is left out.
func ListTrash(s *session.Store, roots []library.Root) ([]Trashed, error) {
	var list []Trashed
	for _, root := range roots {
		if root.Blobs == "" {
			continue
		}
		trash := filepath.Join(filepath.Dir(root.Blobs), "trash")
		entries, err := afero.ReadDir(s.Fs, trash)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, disk.Fault("read", trash, err)
		}
		for _, e := range entries {
			if t, ok := trashed(s, filepath.Join(trash, e.Name())); ok {
				list = append(list, t)
			}
		}
	}
	// Ids grow with the time; they order items moved to the trash in the same millisecond.
	slices.SortFunc(list, func(a, b Trashed) int {
		return cmp.Or(cmp.Compare(b.TrashedAt, a.TrashedAt), cmp.Compare(filepath.Base(b.Dir), filepath.Base(a.Dir)))
	})
	return list, nil
}

// FindTrashed describes the session that [Trash] moved to dir. ok is false if [Untrash] would not restore it.
func FindTrashed(s *session.Store, dir string) (t Trashed, ok bool) {
	return trashed(s, filepath.Clean(dir))
}

// trashed describes a directory of the trash. It reports false for a directory without a
// session of ours.
func trashed(s *session.Store, dir string) (Trashed, bool) {
	r, err := readTrash(s, dir)
	if err != nil {
		return Trashed{}, false
	}
	t := Trashed{Dir: dir, File: filepath.Join(dir, trashedName), Path: r.Path, TrashedAt: r.TrashedAt}
	_, err = disk.Regular(s.Fs, t.File)
	return t, err == nil
}
