package tamper

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of a snapshot. A folder that exceeds them is covered in part.
const (
	mostEntries = 8000    // of directories that are searched
	mostDepth   = 3       // directories below the folder that are searched for protected files
	mostFile    = 1 << 20 // bytes of a file that can be restored
	mostBytes   = 16 << 20
	mostRounds  = 8 // of undoing
)

// Snapshot is the protected files of a folder at one moment. It is not safe for concurrent use.
type Snapshot struct{ areas []area }

// area is a directory that is searched for protected files.
type area struct {
	root  *os.Root
	scan  func(*os.Root) map[string]file
	files map[string]file // by path in the directory, with slashes
}

// file is the recorded state of one file. The content of a link is its target.
type file struct {
	mode    fs.FileMode
	size    int64
	content []byte
	whole   bool  // content is all of it
	changed int64 // when it was, in ns; only of a file that is not whole
}

func (f file) equal(o file) bool {
	return f.mode == o.mode && f.size == o.size && f.changed == o.changed && bytes.Equal(f.content, o.content)
}

// readable reports whether the content is that of a whole file, not of a link or a part.
func (f file) readable() bool { return f.mode.IsRegular() && f.whole }

// NewSnapshot records the protected files of a folder and of its Git directories that are
// outside it. The caller must close the snapshot.
func NewSnapshot(folder string, gitDirs ...string) (*Snapshot, error) {
	var s Snapshot
	err := s.add(folder, scan)
	for _, dir := range gitDirs {
		if err == nil {
			err = s.add(dir, scanGit)
		}
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return &s, nil
}

func (s *Snapshot) add(dir string, scan func(*os.Root) map[string]file) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	s.areas = append(s.areas, area{root, scan, scan(root)})
	return nil
}

// Close ends the use of the snapshot.
func (s *Snapshot) Close() (err error) {
	for _, a := range s.areas {
		err = errors.Join(err, a.root.Close())
	}
	return err
}

// Change is a protected file that has changed.
type Change struct {
	Path string // absolute
	How  string // created, changed or deleted

	in   area
	name string // in it
	was  file
	is   file
}

// errTooLarge is the error for a file whose content was not recorded.
var errTooLarge = errors.New("tamper: too large to be restored")

// Changes returns the differences from the snapshot, in the order of the paths.
func (s *Snapshot) Changes() []Change {
	var changes []Change
	for _, a := range s.areas {
		changes = append(changes, a.changes()...)
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

func (a area) changes() (changes []Change) {
	add := func(name, how string, was, is file) {
		path := filepath.Join(a.root.Name(), filepath.FromSlash(name))
		changes = append(changes, Change{Path: path, How: how, in: a, name: name, was: was, is: is})
	}
	now := a.scan(a.root)
	for name, is := range now {
		was, had := a.files[name]
		switch {
		case isGitConfig(a.root, name) && (!had || was.readable()) && is.readable() && harmless(was.content, is.content): // that of a clone, too
		case !had:
			add(name, "created", was, is)
		case !was.equal(is):
			add(name, "changed", was, is)
		}
	}
	for name, was := range a.files {
		if _, there := now[name]; !there {
			add(name, "deleted", was, file{})
		}
	}
	return changes
}

// Accept makes changes part of the snapshot.
func (s *Snapshot) Accept(changes []Change) {
	for _, c := range changes {
		if c.How == "deleted" {
			delete(c.in.files, c.name)
		} else {
			c.in.files[c.name] = c.is
		}
	}
}

// Content returns the new content of a changed file. ok is false if it is missing, not a regular file or
// too large.
func (c Change) Content() (content []byte, ok bool) { return c.is.content, c.is.readable() }

// Undo restores the changed files, including changes that were beyond the limits before others were
// undone. It returns the paths that it could not restore; those have new contents or none.
func (s *Snapshot) Undo(changes []Change) (left []string) {
	failed := map[string]bool{}
	for range mostRounds {
		for _, c := range changes {
			if c.undo() != nil && !failed[c.Path] {
				failed[c.Path] = true
				left = append(left, c.Path)
			}
		}
		changes = slices.DeleteFunc(s.Changes(), func(c Change) bool { return failed[c.Path] })
		if len(changes) == 0 {
			break
		}
	}
	return left
}

// Redo makes changes again that were undone. It returns the paths for which that failed.
func (s *Snapshot) Redo(changes []Change) (left []string) {
	for _, c := range changes {
		if c.in.put(c.name, c.is, c.How == "deleted") != nil {
			left = append(left, c.Path)
		}
	}
	return left
}

func (c Change) undo() error { return c.in.put(c.name, c.was, c.How == "created") }

// put writes f to the file called name, or removes the file. It never leaves the directory: it
// follows no symbolic link out of it.
func (a area) put(name string, f file, remove bool) error {
	if !remove && !f.whole {
		return errTooLarge
	}
	if err := a.root.RemoveAll(name); err != nil || remove {
		return err
	}
	if err := makeParents(a.root, name); err != nil {
		return err
	}
	if f.mode&fs.ModeSymlink != 0 {
		return a.root.Symlink(string(f.content), name)
	}
	to, err := a.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = to.Write(f.content)
	if closeErr := to.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = a.root.Chmod(name, f.mode.Perm())
	}
	return err
}

// makeParents makes the directories above a path. It replaces anything in their place that is no
// directory, such as a link.
func makeParents(root *os.Root, name string) error {
	dir := path.Dir(name)
	if dir == "." {
		return nil
	}
	if err := makeParents(root, dir); err != nil {
		return err
	}
	info, err := root.Lstat(dir)
	if err == nil && info.IsDir() {
		return nil
	}
	if err == nil {
		if err := root.Remove(dir); err != nil {
			return err
		}
	}
	return root.Mkdir(dir, 0o777)
}
