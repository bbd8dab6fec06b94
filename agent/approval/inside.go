package approval

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

const separator = string(filepath.Separator)

// resolve returns name as it is meant in dir.
func resolve(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// climbs reports whether a name goes up again behind another element. What is there may be
// a link, and then up is not where it seems to be.
func climbs(name string) bool {
	behind := false
	for element := range strings.SplitSeq(filepath.ToSlash(name), "/") {
		if element == ".." && behind {
			return true
		}
		behind = behind || element != ".."
	}
	return false
}

// inside reports whether path is in the folder once symbolic links are followed, and not
// in a repository's own directory, whose hooks and settings are run by git, or in a
// protected one.
func (p policy) inside(path string) bool {
	root, ok := real(p.root)
	path, there := real(path)
	if !ok || !there {
		return false
	}
	rel, ok := below(root, path)
	if !ok || slices.ContainsFunc(p.protected, func(dir string) bool { return protects(dir, path) }) {
		return false
	}
	for element := range strings.SplitSeq(rel, separator) {
		if strings.EqualFold(element, ".git") { // on some systems case does not matter
			return false
		}
	}
	return true
}

func protects(dir, path string) bool {
	dir, ok := real(dir)
	if !ok {
		return true // it leads nowhere that could be compared
	}
	_, in := below(strings.ToLower(dir), strings.ToLower(path))
	return in
}

// below returns path relative to root, if it is in there.
func below(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+separator)
}

// real follows the symbolic links of a path, also those that lead to what is not there
// yet: what is written through them is made there.
func real(path string) (string, bool) {
	r, err := tool.Real(afero.NewOsFs(), path)
	return r, err == nil
}

// outside returns where those of the paths lead that are not in the folder.
func (p policy) outside(paths []string) []string {
	var outside []string
	for _, path := range paths {
		if p.inside(path) {
			continue
		}
		if r, ok := real(path); ok {
			path = r
		}
		outside = append(outside, path)
	}
	return outside
}
