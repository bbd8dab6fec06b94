package library

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

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// folder is a directory that may hold session files.
type folder struct {
	path string
	root Root
}

// foldersOf returns the folders that may hold the sessions of cwd, and their owner.
func (f Finder) foldersOf(cwd string, roots []Root, sessionDir string) ([]folder, owner, error) {
	if dir := cmp.Or(sessionDir, f.SessionDir); dir != "" {
		return []folder{f.forced(dir)}, owner{all: true}, nil
	}
	if err := CheckCwd(cwd); err != nil {
		return nil, owner{}, err
	}
	names := dirNames(cwd, f.Home, f.Temp, f.RealPath)
	var folders []folder
	for _, r := range roots {
		for _, name := range names {
			folders = append(folders, folder{filepath.Join(r.Sessions, name), r})
		}
	}
	return f.distinctFolders(folders), f.ownerOf(cwd), nil
}

// Files returns the paths of the session files that may be those of cwd: regular files in
// its folders, whatever their headers say. The errors are of kind invalidArgument if cwd is
// not absolute, and of kind cancelled.
func (f Finder) Files(ctx context.Context, cwd string) ([]string, error) {
	folders, _, err := f.foldersOf(cwd, f.Roots, "")
	if err != nil {
		return nil, err
	}
	files, err := f.regularFiles(ctx, f.namesIn(folders))
	return pathsOf(files), err
}

// AllFiles returns the paths of the session files of every folder, without looking at the
// files.
func (f Finder) AllFiles() []string { return pathsOf(f.namesIn(f.allFolders(""))) }

func pathsOf(files []sessionFile) []string {
	paths := make([]string, len(files))
	for i, file := range files {
		paths[i] = file.Path
	}
	return paths
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

// forced is an explicitly given session directory. It is ours.
func (f Finder) forced(dir string) folder {
	root := Root{Dialect: session.Xcsh, Own: true}
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

// filesIn returns the session files of folders by their names; the files are not inspected
// yet, their info is nil. A folder that does not exist is empty.
func (f Finder) filesIn(folders []folder) (files []sessionFile, problems []session.Problem) {
	found := make([][]sessionFile, len(folders))
	failed := make([]error, len(folders))
	_ = InParallel(context.Background(), len(folders), func() func(int) { // it is never cancelled
		return func(i int) { found[i], failed[i] = f.filesOf(folders[i]) }
	})
	problems = []session.Problem{} // the wire wants an empty list, not null
	for i, err := range failed {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, session.Problem{Kind: session.UnreadableFile, Message: disk.Fault("read", folders[i].path, err).Error()})
		}
	}
	return slices.Concat(found...), problems
}

// filesOf is filesIn for one folder. Files read before an error are returned too.
func (f Finder) filesOf(d folder) ([]sessionFile, error) {
	dir, err := f.Fs.Open(d.path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	files := make([]sessionFile, 0, len(names))
	for _, name := range names {
		if IsSessionName(name) {
			files = append(files, sessionFile{filepath.Join(d.path, name), nil, d.root})
		}
	}
	return files, err
}

// namesIn is filesIn for callers that ignore unreadable folders.
func (f Finder) namesIn(folders []folder) []sessionFile {
	files, _ := f.filesIn(folders)
	return files
}

// regularFiles inspects files, on all processors, and returns the regular ones with their
// info. The error is of kind cancelled.
func (f Finder) regularFiles(ctx context.Context, files []sessionFile) ([]sessionFile, error) {
	err := InParallel(ctx, len(files), func() func(int) {
		return func(i int) { files[i].Info, _ = disk.Lstat(f.Fs, files[i].Path) } // nil for a missing file
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, func(file sessionFile) bool {
		return file.Info == nil || !file.Info.Mode().IsRegular()
	}), nil
}

// IsSessionName reports whether name is that of a session file: a .jsonl file that is not hidden.
func IsSessionName(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
}

// sortFiles puts the files changed last first, then those with the later name.
func sortFiles(files []sessionFile) {
	slices.SortFunc(files, func(a, b sessionFile) int {
		if c := b.Info.ModTime().Compare(a.Info.ModTime()); c != 0 {
			return c
		}
		return ByName(b.Path, a.Path)
	})
}

// ByName compares two paths by their base names, then as a whole.
func ByName(a, b string) int {
	return cmp.Or(strings.Compare(filepath.Base(a), filepath.Base(b)), strings.Compare(a, b))
}
