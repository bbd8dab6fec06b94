package script

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// file is an executable.
type file struct{ name, path string }

// problem is why an executable is not run, in a sentence. name is "" for the whole folder.
type problem struct{ name, text string }

// list returns the executables of a folder in the order of their names, and the files in it that
// must not be run. A missing folder has none of either.
func list(dir string) (files []file, problems []problem) {
	if !filepath.IsAbs(dir) {
		return nil, nil // it would be relative to the workspace
	}
	folder := os.DirFS(dir)
	info, err := fs.Stat(folder, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = trusted(dir, info)
	}
	if err != nil {
		return nil, []problem{{text: fmt.Sprintf("The hooks in %s are not run: %s.", dir, err)}}
	}
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		problems = append(problems, problem{text: fmt.Sprintf("Some hooks in %s are not run: %s.", dir, err)})
	}
	for _, e := range entries {
		if ignored(e.Name()) {
			continue
		}
		f := file{e.Name(), filepath.Join(dir, e.Name())}
		ok, err := f.check(folder, e)
		if err != nil {
			name := plain(f.name)
			problems = append(problems, problem{name, fmt.Sprintf("The hook %s is not run: %s.", name, err)})
		} else if ok {
			files = append(files, f)
		}
	}
	return files, problems
}

// within reports whether dir, which exists, is in a workspace, through any links.
func within(dir, workspace string) bool {
	if workspace == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return true // unknown
	}
	for _, root := range []string{workspace, resolved(workspace)} {
		for _, path := range []string{dir, real} {
			if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// resolved is a path without links, or the path itself if it leads nowhere.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// ignored reports whether a file is one that editors and users leave behind.
func ignored(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") || strings.HasSuffix(name, ".bak")
}

// check reports whether f is an executable. The error is the reason why it must not be run.
func (f file) check(folder fs.FS, e fs.DirEntry) (ok bool, err error) {
	info, err := fs.Stat(folder, f.name)
	if err != nil {
		return false, err // a link that leads nowhere
	}
	if !info.Mode().IsRegular() || !isExecutable(f.name, info) {
		return false, nil
	}
	if err := trusted(f.path, info); err != nil {
		return false, err
	}
	if e.Type()&fs.ModeSymlink == 0 {
		return true, nil
	}
	target, err := filepath.EvalSymlinks(f.path)
	if err != nil {
		return false, err
	}
	dir := filepath.Dir(target)
	if info, err = fs.Stat(os.DirFS(dir), "."); err != nil {
		return false, err
	}
	return true, trusted(dir, info)
}
