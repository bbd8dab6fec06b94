package contents

import (
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

// Excluded reports whether only the hash of the file at an absolute path is stored. A glob without a slash matches the name of the
// file or of a parent directory; a glob with slashes matches the end of the path.
func (s *Store) Excluded(abs string) bool {
	if len(s.exclude) == 0 {
		return false
	}
	slash := strings.TrimPrefix(filepath.ToSlash(abs), "/")
	for _, glob := range s.exclude {
		glob = strings.Trim(glob, "/")
		if glob == "" {
			continue
		}
		for at := slash; at != "." && at != ""; at = path.Dir(at) { // a directory excludes its files
			if ok, err := doublestar.Match("**/"+glob, at); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// StateOf returns the state of an absolute path and stores its content. info describes the path itself, without following a link, and
// is nil if it does not exist. content is that of a file, or the target of a link. A file that is too large or excluded is Large and
// its content can't be restored.
//
// The error is that of [Store.Put]. The state is valid even then, but its content is not stored.
func (s *Store) StateOf(abs string, info fs.FileInfo, content []byte) (change.State, error) {
	if info == nil {
		return change.State{Kind: change.Absent}, nil
	}
	return s.StateWith(abs, info.Mode(), content)
}

// StateWith is StateOf for an existing file with a mode, that is, its type and permission bits.
func (s *Store) StateWith(abs string, mode fs.FileMode, content []byte) (change.State, error) {
	st := change.State{Size: int64(len(content))}
	switch mode.Type() {
	case 0:
		st.Kind, st.Mode = change.Regular, uint32(mode.Perm())
	case fs.ModeSymlink:
		st.Kind = change.Link
	default:
		return change.State{Kind: change.Special}, nil
	}
	if st.Kind == change.Regular && (st.Size > s.maxFile || s.Excluded(abs)) {
		st.Kind, st.SHA256 = change.Large, change.Sum(content)
		return st, nil
	}
	var err error
	st.SHA256, err = s.Put(content)
	return st, err
}
