package sessiondoc

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Files are the files that may be read for the client: those in workspace folders and in the
// directories of sessions.
type Files struct {
	Fs      afero.Fs // nil if there are no files
	Finder  library.Finder
	Folders []string // the workspace folders
}

// MayRead reports whether a file is in a workspace folder or a directory of sessions.
func (f Files) MayRead(path string) bool {
	if _, ok := f.FolderOf(path); ok {
		return true
	}
	_, kept := f.Finder.FileRoot(path)
	return kept
}

// FolderOf returns the innermost workspace folder that path is in.
func (f Files) FolderOf(path string) (folder string, ok bool) {
	for _, dir := range f.Folders {
		if isWithin(dir, path) && len(dir) > len(folder) {
			folder, ok = dir, true
		}
	}
	return folder, ok
}

func isWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// maxHeader is how much of a text is searched for a session header, in bytes.
const maxHeader = 64 << 10

// isSession reports whether a text is a session: its first line is a header, perhaps after a title
// slot, or the file is in a directory of sessions.
func (f Files) isSession(path, text string) bool {
	if filepath.Ext(path) != ".jsonl" {
		return false
	}
	text = strings.TrimPrefix(text, "\uFEFF")
	for range 2 {
		line, rest, _ := strings.Cut(text[:min(len(text), maxHeader)], "\n")
		switch typ, _ := rawjson.GetString([]byte(line), "type"); typ {
		case "session":
			return true
		case "title":
			text = rest
			continue
		}
		break
	}
	_, kept := f.Finder.FileRoot(path)
	return kept
}

// maxClosed is the size of the largest file that is read although it is not open, in bytes.
const maxClosed = 256 << 20

// read reads a session that is not open in the editor. ok is false if the file may not be read,
// links resolved, or is too large.
func (f Files) read(path string) (text string, ok bool, err error) {
	if f.Fs == nil || !f.MayRead(path) || !f.leadsInside(path) {
		return "", false, nil
	}
	info, err := f.Fs.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxClosed {
		return "", false, nil
	}
	file, err := f.Fs.Open(path)
	if err != nil {
		return "", false, err
	}
	var b strings.Builder
	b.Grow(int(info.Size()))
	_, err = io.Copy(&b, io.LimitReader(file, maxClosed))
	return b.String(), true, errors.Join(err, file.Close())
}

// leadsInside reports whether path, once links are resolved, is in a workspace folder or a
// directory of sessions.
func (f Files) leadsInside(path string) bool {
	realPath := f.Finder.RealPath
	if realPath == nil {
		return true
	}
	real, err := realPath(path)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(append(sessionDirs(f.Finder), f.Folders...), func(dir string) bool {
		realDir, err := realPath(dir)
		return err == nil && isWithin(realDir, real)
	})
}

// sessionDirs returns the directories of sessions.
func sessionDirs(f library.Finder) (dirs []string) {
	if f.SessionDir != "" {
		dirs = append(dirs, f.SessionDir)
	}
	for _, r := range f.Roots {
		dirs = append(dirs, r.Sessions)
	}
	return dirs
}
