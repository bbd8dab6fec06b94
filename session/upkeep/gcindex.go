package upkeep

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// listIndexes adds the index files that are of no use.
func (g *Garbage) listIndexes() error {
	l := g.look
	if l.f.IndexDir == "" {
		return nil
	}
	dir := indexfile.Dir{Fs: l.s.Fs, Path: l.f.IndexDir, Now: l.s.Now}
	unused, err := dir.Unused(func(path string) bool {
		_, err := l.s.Fs.Stat(path)
		return !errors.Is(err, fs.ErrNotExist)
	})
	if err != nil {
		return disk.Fault("read", l.f.IndexDir, err)
	}
	for _, f := range unused {
		if l.old(f.ModTime()) {
			g.Indexes = append(g.Indexes, GCItem{
				Path: filepath.Join(l.f.IndexDir, f.Name()), Size: f.Size(), Modified: session.FormatTime(f.ModTime()),
				state: disk.State{Info: f, Size: f.Size(), Mod: f.ModTime()},
			})
		}
	}
	return nil
}

// removeIndexes removes the index files, unless they were written again meanwhile.
func (g *Garbage) removeIndexes(r *GCResult) {
	fsys := g.look.s.Fs
	for _, item := range g.Indexes {
		now, err := disk.Lstat(fsys, item.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && (!now.Mode().IsRegular() || now.Size() != item.state.Size || !now.ModTime().Equal(item.state.Mod)):
			r.Kept = append(r.Kept, item.Path)
			continue
		case err == nil:
			err = fsys.Remove(item.Path)
		}
		if err != nil {
			r.fail(item.Path, disk.Fault("remove", item.Path, err))
			continue
		}
		r.Removed = append(r.Removed, item.Path)
	}
}
