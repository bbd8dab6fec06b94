package approval

import (
	"path/filepath"
	"strings"
)

// resolve returns name as it is meant in dir.
func resolve(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// inside reports whether path is below root once symbolic links are followed, and not in
// a repository's own directory, whose hooks and settings are run by git.
func inside(root, path string) bool {
	root, path = real(root), real(path)
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return false
	}
	for element := range strings.SplitSeq(rel, string(filepath.Separator)) {
		if strings.EqualFold(element, ".git") { // on some systems case does not matter
			return false
		}
	}
	return true
}

// real follows the symbolic links in what exists of a path.
func real(path string) string {
	path = filepath.Clean(path)
	for at, rest := path, ""; ; {
		if r, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(r, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
}
