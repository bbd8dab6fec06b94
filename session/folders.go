package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
)

// folder is a directory that may hold session files.
type folder struct {
	path string
	root Root
}

// foldersOf returns where the sessions of cwd may be, and whose they are.
func (f Finder) foldersOf(cwd string, roots []Root, sessionDir string) ([]folder, owner, error) {
	if dir := cmp.Or(sessionDir, f.SessionDir); dir != "" {
		return []folder{f.forced(dir)}, owner{any: true}, nil
	}
	if err := checkCwd(cwd); err != nil {
		return nil, owner{}, err
	}
	names := DirNames(cwd, f.Home, f.Temp, f.RealPath)
	var folders []folder
	for _, r := range roots {
		for _, name := range names {
			folders = append(folders, folder{filepath.Join(r.Sessions, name), r})
		}
	}
	return f.distinctFolders(folders), f.ownerOf(cwd), nil
}

// Dirs returns the directories that sessions of cwd may be in. They need not exist.
func (f Finder) Dirs(cwd string) []string {
	folders, _, err := f.foldersOf(cwd, f.Roots, "")
	if err != nil {
		return nil
	}
	dirs := make([]string, len(folders))
	for i, d := range folders {
		dirs[i] = d.path
	}
	return dirs
}

// forced is a session directory that was named explicitly. It is ours.
func (f Finder) forced(dir string) folder {
	root := Root{Dialect: Xcsh, Own: true}
	for _, r := range f.Roots {
		if r.Own {
			root = r
		}
	}
	root.Sessions = dir
	return folder{dir, root}
}

// allFolders returns every directory of every root.
func (f Finder) allFolders(sessionDir string) []folder {
	if dir := cmp.Or(sessionDir, f.SessionDir); dir != "" {
		return []folder{f.forced(dir)}
	}
	var folders []folder
	for _, r := range f.Roots {
		folders = append(folders, folder{r.Sessions, r})
		entries, _ := afero.ReadDir(f.Fs, r.Sessions) // reading the root for its files reports the failure
		flat := map[string]bool{}                     // sessions right in the root; a directory of the name is their artifacts
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok {
				flat[name] = true
			}
		}
		for _, e := range entries {
			if name := e.Name(); !flat[name] && !strings.HasPrefix(name, ".") && f.isDir(r.Sessions, e) {
				folders = append(folders, folder{filepath.Join(r.Sessions, name), r})
			}
		}
	}
	return f.distinctFolders(folders)
}

// isDir reports whether e, found in dir, is a directory or a symbolic link to one.
func (f Finder) isDir(dir string, e os.FileInfo) bool {
	if e.Mode()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	target, err := f.Fs.Stat(filepath.Join(dir, e.Name()))
	return err == nil && target.IsDir()
}

// distinctFolders drops directories that were named before, also through a link.
func (f Finder) distinctFolders(folders []folder) []folder {
	seen := map[string]bool{}
	return slices.DeleteFunc(folders, func(d folder) bool {
		key := realOr(f.RealPath, cleanPath(d.path))
		again := seen[key]
		seen[key] = true
		return again
	})
}

// filesIn returns the session files of folders by their names; what they are is not
// looked at yet, their info is nil. A folder that does not exist is empty.
func (f Finder) filesIn(folders []folder) (files []sessionFile, problems []Problem) {
	found := make([][]sessionFile, len(folders))
	failed := make([]error, len(folders))
	inParallel(context.Background(), len(folders), func() func(int) {
		return func(i int) { found[i], failed[i] = f.filesOf(folders[i]) }
	})
	problems = []Problem{} // the wire wants an empty list, not null
	for i, err := range failed {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, Problem{Kind: UnreadableFile, Message: ioFault("read", folders[i].path, err).Error()})
		}
	}
	return slices.Concat(found...), problems
}

// filesOf is filesIn for one folder. What could be read before an error is returned too.
func (f Finder) filesOf(d folder) ([]sessionFile, error) {
	dir, err := f.Fs.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	files := make([]sessionFile, 0, len(names))
	for _, name := range names {
		if isSessionName(name) {
			files = append(files, sessionFile{filepath.Join(d.path, name), nil, d.root})
		}
	}
	return files, err
}

// namesIn is filesIn for who passes over what cannot be read.
func (f Finder) namesIn(folders []folder) []sessionFile {
	files, _ := f.filesIn(folders)
	return files
}

// regularFiles looks at files, on all processors, and returns the regular ones with
// their info. The error is kind cancelled.
func (f Finder) regularFiles(ctx context.Context, files []sessionFile) ([]sessionFile, error) {
	inParallel(ctx, len(files), func() func(int) {
		return func(i int) { files[i].info = f.lstat(files[i].path) }
	})
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, func(file sessionFile) bool {
		return file.info == nil || !file.info.Mode().IsRegular()
	}), nil
}

// lstat is nil for what is not there.
func (f Finder) lstat(path string) os.FileInfo {
	var info os.FileInfo
	var err error
	if l, ok := f.Fs.(afero.Lstater); ok {
		info, _, err = l.LstatIfPossible(path)
	} else {
		info, err = f.Fs.Stat(path)
	}
	if err != nil {
		return nil
	}
	return info
}

func isSessionName(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
}

// sortFiles puts the files changed last first, then those with the later name.
func sortFiles(files []sessionFile) {
	slices.SortFunc(files, func(a, b sessionFile) int {
		if c := b.info.ModTime().Compare(a.info.ModTime()); c != 0 {
			return c
		}
		return byName(b.path, a.path)
	})
}

func byName(a, b string) int {
	return cmp.Or(strings.Compare(filepath.Base(a), filepath.Base(b)), strings.Compare(a, b))
}
