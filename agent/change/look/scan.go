package look

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
)

// scan is the files of a folder without git.
type scan struct {
	folder string
	kept   map[string]change.State
	blind  []string // directories that could not be read
}

// errLarge is returned if a folder is too large to be scanned.
var errLarge = errors.New("the folder is too large")

// scanFolder stores the files of the folder, if it is small. It skips the home directory and its parents, which are not projects, and
// the inside of a repository.
func (l *Look) scanFolder(ctx context.Context) error {
	if rel, err := filepath.Rel(l.folder, realPath(l.o.Home)); l.folder == filepath.Dir(l.folder) || l.o.Home != "" && err == nil && filepath.IsLocal(rel) {
		return nil
	}
	if slices.Contains(strings.Split(filepath.ToSlash(l.folder), "/"), ".git") || l.bare() {
		return nil
	}
	found, err := walk(ctx, l.o.Fs, l.folder)
	if err != nil {
		return ctx.Err() // too large
	}
	states, err := l.states(ctx, found.paths)
	if err != nil {
		return err
	}
	s := &scan{folder: l.folder, kept: make(map[string]change.State, len(states)), blind: found.blind}
	for i, st := range states {
		s.kept[found.paths[i]] = st
	}
	l.scan = s
	return nil
}

// bare reports whether the folder is a repository without a work tree.
func (l *Look) bare() bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := disk.Lstat(l.o.Fs, filepath.Join(l.folder, name)); err != nil {
			return false
		}
	}
	return true
}

// walked is the files below a folder.
type walked struct{ paths, blind []string }

// walk lists the files below a folder, without directories and git's own files.
func walk(ctx context.Context, fsys afero.Fs, folder string) (found walked, err error) {
	size := int64(0)
	err = afero.Walk(fsys, folder, func(path string, info fs.FileInfo, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			found.blind = append(found.blind, path)
			return nil
		case info.IsDir() && info.Name() == ".git" && path != folder:
			return filepath.SkipDir
		case info.IsDir():
			return nil
		}
		if info.Mode().IsRegular() {
			size += info.Size()
		}
		if found.paths = append(found.paths, path); len(found.paths) > maxScanned || size > maxScan {
			return errLarge
		}
		return nil
	})
	return found, err
}

// after returns the changes since the scan.
func (s *scan) after(ctx context.Context, l *Look) (changes []change.Change, err error) {
	found, err := walk(ctx, l.o.Fs, s.folder)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		l.limit(change.LimitLarge)
		return nil, nil //nolint:nilerr // the folder is too large after the command
	}
	paths := found.paths
	now := make(map[string]bool, len(paths))
	for _, path := range paths {
		now[path] = true
	}
	for path := range s.kept {
		if !now[path] {
			paths = append(paths, path)
		}
	}
	states, err := l.states(ctx, paths)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		before, ok := s.kept[path]
		if !ok {
			if below(path, s.blind) {
				l.limit(change.LimitBudget)
				continue // it may have existed before
			}
			before.Kind = change.Absent
		}
		if below(path, found.blind) {
			l.limit(change.LimitBudget)
			continue // it may still exist
		}
		if c, ok := l.changed(path, before, states[i]); ok {
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// below reports whether a path is one of the directories or in one of them.
func below(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
	})
}
