package sensitive

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// places finds where many paths lead. Each directory above them is looked at once, because hundreds of
// listed paths share a few directories, and nothing is looked for below a directory that is not there.
// What it found holds for one [View] only.
type places struct {
	fs    afero.Fs
	known map[string]place  // of directories above the paths, by their cleaned path
	lists map[string]*names // of the directories that are listed rather than asked for each name; nil: none is
}

// Resolver returns [Resolve] for many absolute paths at one moment: each directory above them is looked at
// once. It must not be kept, because links may change, and is not safe for concurrent use.
func Resolver(fsys afero.Fs) func(path string) string {
	at := places{fs: fsys, known: map[string]place{}}
	return func(path string) string {
		if path = filepath.Clean(path); !filepath.IsAbs(path) {
			return Resolve(fsys, path)
		}
		if _, ok := at.known[path]; !ok {
			at.known[path] = at.find(path)
		}
		return at.known[path].path
	}
}

// place is where a path leads.
type place struct {
	path    string // as [Resolve] returns it
	missing bool   // it, and so all below it, does not exist
}

// find returns the place of a path, which is absolute and clean.
func (p places) find(path string) place {
	up, name := parent(path)
	if up == path {
		return place{path: path}
	}
	above, ok := p.known[up]
	if !ok {
		above = p.find(up)
		p.known[up] = above
	}
	missing := above.missing || p.lists != nil && p.lacks(above.path, name)
	if above.path != up {
		path = filepath.Join(above.path, name)
	}
	if missing {
		return place{path: path, missing: true}
	}
	return p.step(path)
}

// parent returns the directory of a clean absolute path, and its name there. Of a root it returns the root.
func parent(path string) (dir, name string) {
	i := strings.LastIndexByte(path, filepath.Separator)
	if i <= len(filepath.VolumeName(path)) {
		return filepath.Dir(path), filepath.Base(path)
	}
	return path[:i], path[i+1:]
}

const (
	// manyNames is how many names are asked for one by one in a directory before it is listed, which costs as
	// much as a few of them.
	manyNames = 4

	// maxListing bounds the names of a listing. In a larger directory every name is asked for.
	maxListing = 1024
)

// names are those of a directory, folded. They are nil if it has too many, or cannot be listed.
type names struct {
	asked int
	all   map[string]bool
}

// lacks reports whether a directory has no entry of a name, in any case. It is false also if that is not known.
func (p places) lacks(dir, name string) bool {
	n := p.lists[dir]
	if n == nil {
		n = &names{}
		p.lists[dir] = n
	}
	if n.asked++; n.asked == manyNames {
		n.all = p.list(dir)
	}
	return n.all != nil && !n.all[folded(name)]
}

// list returns the names in a directory, nil if there are too many or it cannot be listed.
func (p places) list(dir string) map[string]bool {
	f, err := p.fs.Open(dir)
	if err != nil {
		return nil
	}
	found, err := f.Readdirnames(maxListing)
	whole := errors.Is(err, io.EOF)
	if err == nil {
		_, err = f.Readdirnames(1)
		whole = errors.Is(err, io.EOF)
	}
	if f.Close() != nil || !whole {
		return nil
	}
	all := make(map[string]bool, len(found))
	for _, name := range found {
		all[folded(name)] = true
	}
	return all
}

// folded is a name as file systems that ignore case compare it, or coarser.
func folded(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return strings.ToLower(strings.ToUpper(name))
		}
	}
	return name
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
