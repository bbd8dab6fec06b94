package session

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"
)

// Trashed is one session in the trash.
type Trashed struct {
	Dir       string // what [Store.Untrash] takes
	File      string // the session as it lies there
	Path      string // where it was, and would be again
	TrashedAt string // RFC 3339, UTC
}

// ListTrash returns what can be taken back from the trash of the roots, the newest first.
// A directory there that is not ours, or that cannot be read, is left out.
func (s *Store) ListTrash(roots []Root) ([]Trashed, error) {
	var list []Trashed
	for _, root := range roots {
		if root.Blobs == "" {
			continue
		}
		trash := filepath.Join(filepath.Dir(root.Blobs), "trash")
		entries, err := afero.ReadDir(s.Fs, trash)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, ioFault("read", trash, err)
		}
		for _, e := range entries {
			if t, ok := s.trashed(filepath.Join(trash, e.Name())); ok {
				list = append(list, t)
			}
		}
	}
	// Ids grow with the time; they tell apart what was thrown away in one millisecond.
	slices.SortFunc(list, func(a, b Trashed) int {
		return cmp.Or(cmp.Compare(b.TrashedAt, a.TrashedAt), cmp.Compare(filepath.Base(b.Dir), filepath.Base(a.Dir)))
	})
	return list, nil
}

// trashed describes a directory of the trash. It reports false for one without a session
// of ours.
func (s *Store) trashed(dir string) (Trashed, bool) {
	r, err := s.readTrash(dir)
	if err != nil {
		return Trashed{}, false
	}
	t := Trashed{Dir: dir, File: filepath.Join(dir, trashedName), Path: r.Path, TrashedAt: r.TrashedAt}
	_, err = s.regular(t.File)
	return t, err == nil
}
