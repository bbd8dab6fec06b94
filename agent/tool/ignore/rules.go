package ignore

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// The names in a directory that affect ignoring.
const (
	repository = ".git"
	ignoreFile = ".gitignore"
)

// maxRules is the largest file of patterns that is read, in bytes.
const maxRules = 1 << 20

// Rules are the rules of one directory. They are immutable and safe for concurrent use. nil ignores
// nothing but the repository itself.
type Rules struct {
	parent   *Rules // of the directory above, nil at the root of a repository
	name     string // of the directory in the one above
	patterns []pattern
	exclude  []pattern // .git/info/exclude, of the root only
}

// Load returns the rules that hold in dir: those of the repository that dir is in, from its root
// down. Outside of a repository only the file in dir itself counts. A file that cannot be read, is
// not a regular file or has more than a megabyte counts as empty.
func Load(fsys afero.Fs, dir string) *Rules {
	dir = filepath.Clean(dir)
	root, below := dir, []string(nil)
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := fsys.Stat(filepath.Join(at, repository)); err == nil {
			root = at
			break
		}
		if at == filepath.Dir(at) {
			below = nil // no repository
			break
		}
		below = append(below, filepath.Base(at))
	}
	rules := newRoot(fsys, root)
	at := root
	for _, name := range slices.Backward(below) {
		at = filepath.Join(at, name)
		rules = &Rules{parent: rules, name: name, patterns: read(fsys, at, ignoreFile)}
	}
	return rules
}

func newRoot(fsys afero.Fs, dir string) *Rules {
	return &Rules{
		patterns: read(fsys, dir, ignoreFile),
		exclude:  read(fsys, dir, filepath.Join(repository, "info", "exclude")),
	}
}

// read returns the patterns of the file called name in dir. Like git it follows no link to
// another place.
func read(fsys afero.Fs, dir, name string) []pattern {
	f, err := intake.ReadBelow(fsys, dir, name, maxRules)
	if err != nil {
		return nil
	}
	return parse(f.Content)
}

// Enter returns the rules for dir, a directory of the one that r holds for. entries are the entries
// of dir. A nested repository starts with rules of its own.
func (r *Rules) Enter(fsys afero.Fs, dir string, entries []fs.FileInfo) *Rules {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.FileInfo) bool { return e.Name() == name })
	}
	if has(repository) {
		return newRoot(fsys, dir)
	}
	sub := &Rules{parent: r, name: filepath.Base(dir)}
	if has(ignoreFile) {
		sub.patterns = read(fsys, dir, ignoreFile)
	}
	return sub
}

// Ignored reports whether git ignores name, an entry of the directory. The repository's
// own directory always is.
func (r *Rules) Ignored(name string, isDir bool) bool {
	if name == repository {
		return true
	}
	rel := name
	for at := r; at != nil; at = at.parent {
		if ignored, decided := last(at.patterns, rel, name, isDir); decided {
			return ignored
		}
		if at.parent == nil {
			ignored, _ := last(at.exclude, rel, name, isDir)
			return ignored
		}
		rel = path.Join(at.name, rel)
	}
	return false
}

// last checks the patterns of one file; the last one that matches decides.
func last(patterns []pattern, rel, name string, isDir bool) (ignored, decided bool) {
	for _, p := range slices.Backward(patterns) {
		if p.matches(rel, name, isDir) {
			return !p.negated, true
		}
	}
	return false, false
}
