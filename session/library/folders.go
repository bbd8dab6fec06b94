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
	"github.com/xcsh-ls/xcsh-ls/session/internal/dirlist"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/rows"
)

// folder is a directory that may hold session files.
type folder struct {
	path string
	root Root
	rows rows.Dir // of the cache, during a listing
	head string   // what precedes the name in the path of a file, once known
}

// key names the folder in the cache.
func (d *folder) key() string { return filepath.Clean(d.path) }

// join is the path of a file in the folder. The name is that of an entry of a directory.
func (d *folder) join(name string) string {
	if d.head != "" {
		return d.head + name
	}
	return filepath.Join(d.path, name)
}

// setHead makes join fast. It must not be called concurrently with join.
func (d *folder) setHead() {
	const name = "x"
	d.head = strings.TrimSuffix(filepath.Join(d.path, name), name)
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
			folders = append(folders, folder{path: filepath.Join(r.Sessions, name), root: r})
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
	files, _, err := f.regularIn(ctx, folders, nil)
	return pathsOf(files), err
}

// AllFiles returns the paths of the session files of every folder, without looking at the
// files.
func (f Finder) AllFiles() []string { return pathsOf(f.namesIn(f.allFolders(""))) }

func pathsOf(files []sessionFile) []string {
	paths := make([]string, len(files))
	for i, file := range files {
		paths[i] = file.path()
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
	return folder{path: dir, root: root}
}

// allFolders returns every directory of every root.
func (f Finder) allFolders(sessionDir string) []folder {
	if dir := cmp.Or(sessionDir, f.SessionDir); dir != "" {
		return []folder{f.forced(dir)}
	}
	var folders []folder
	for _, r := range f.Roots {
		folders = append(folders, folder{path: r.Sessions, root: r})
		entries, _ := afero.ReadDir(f.Fs, r.Sessions) // reading the root for its files reports the failure
		flat := map[string]bool{}                     // sessions right in the root; a directory of the name is their artifacts
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".jsonl"); ok {
				flat[name] = true
			}
		}
		for _, e := range entries {
			if name := e.Name(); !flat[name] && !strings.HasPrefix(name, ".") && f.isDir(r.Sessions, e) {
				folders = append(folders, folder{path: filepath.Join(r.Sessions, name), root: r})
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

// namesIn returns the session files of folders by their names; the files are not inspected, and
// folders that cannot be read are ignored.
func (f Finder) namesIn(folders []folder) []sessionFile {
	found := make([][]sessionFile, len(folders))
	_ = InParallel(context.Background(), len(folders), func() func(int) { // it is never cancelled
		return func(i int) { found[i] = f.namesOf(&folders[i]) }
	})
	return slices.Concat(found...)
}

func (f Finder) namesOf(d *folder) []sessionFile {
	dir, err := f.Fs.Open(d.path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	files := make([]sessionFile, 0, len(names))
	for _, name := range names {
		if IsSessionName(name) {
			files = append(files, sessionFile{dir: d, name: name})
		}
	}
	return files
}

// regularIn inspects the session files of folders, on all processors, and returns the regular ones
// with their info, in no order. want, if not nil, chooses among the names. A folder that cannot be
// read is a problem, one that does not exist is empty. The error is of kind cancelled.
func (f Finder) regularIn(ctx context.Context, folders []folder, want func(name string) bool) ([]sessionFile, []session.Problem, error) {
	paths := make([]string, len(folders))
	for i := range folders {
		paths[i] = folders[i].path
	}
	listed, failed := dirlist.Regular(ctx, f.Fs, paths, func(name string) bool {
		return IsSessionName(name) && (want == nil || want(name))
	})
	problems, n := []session.Problem{}, 0 // the wire wants an empty list, not null
	for i, err := range failed {
		n += len(listed[i])
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, session.Problem{Kind: session.UnreadableFile, Message: disk.Fault("read", paths[i], err).Error()})
		}
	}
	files := make([]sessionFile, 0, n)
	for i := range listed {
		for _, e := range listed[i] {
			files = append(files, sessionFile{dir: &folders[i], name: e.Name, Info: e.Info})
		}
	}
	return files, problems, cancelled(ctx)
}

// IsSessionName reports whether name is that of a session file: a .jsonl file that is not hidden.
func IsSessionName(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
}

// modified is the time of a file as a number to sort by, and its place.
type modified struct {
	seconds     int64
	nanoseconds int32
	at          int32
}

// sorted returns files with those changed last first, then those with the later name.
func sorted(files []sessionFile) []sessionFile {
	times := make([]modified, len(files))
	for i := range files {
		t := files[i].Info.ModTime()
		times[i] = modified{t.Unix(), int32(t.Nanosecond()), int32(i)} // #nosec G115 -- no list is that long
	}
	slices.SortFunc(times, func(a, b modified) int {
		switch {
		case a.seconds != b.seconds:
			return cmp.Compare(b.seconds, a.seconds)
		case a.nanoseconds != b.nanoseconds:
			return cmp.Compare(b.nanoseconds, a.nanoseconds)
		}
		return ByName(files[b.at].path(), files[a.at].path())
	})
	out := make([]sessionFile, len(files))
	for i, t := range times {
		out[i] = files[t.at]
	}
	return out
}

// ByName compares two paths by their base names, then as a whole.
func ByName(a, b string) int {
	return cmp.Or(strings.Compare(filepath.Base(a), filepath.Base(b)), strings.Compare(a, b))
}
