package sensitive

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/afero"
)

// places finds where many paths lead. Each directory above them is looked at once, because hundreds of
// listed paths share a few directories, and nothing is looked for below a directory that is not there.
// What it found holds for one [View] only.
type places struct {
	fs    afero.Fs
	known map[string]place // of directories above the paths, by their cleaned path
}

// place is where a path leads.
type place struct {
	path    string // as [Resolve] returns it
	missing bool   // it, and so all below it, does not exist
}

// find returns the place of a path, which is absolute and clean.
func (p places) find(path string) place {
	up := filepath.Dir(path)
	if up == path {
		return place{path: path}
	}
	above, ok := p.known[up]
	if !ok {
		above = p.find(up)
		p.known[up] = above
	}
	next := filepath.Join(above.path, filepath.Base(path))
	if above.missing {
		return place{path: next, missing: true}
	}
	return p.step(next)
}

// step returns the place of a path whose directory is no link.
func (p places) step(path string) place {
	links, ok := p.fs.(afero.Symlinker)
	if !ok {
		_, err := p.fs.Stat(path)
		return place{path: path, missing: errors.Is(err, fs.ErrNotExist)}
	}
	info, _, err := links.LstatIfPossible(path)
	if err != nil {
		return place{path: path, missing: errors.Is(err, fs.ErrNotExist)}
	}
	if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return place{path: path}
	}
	return place{path: Resolve(p.fs, path)}
}
