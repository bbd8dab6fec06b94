package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Finder finds session files. It never changes anything on disk, keeps nothing
// between calls and is safe for concurrent use. Fs and Now must be set.
type Finder struct {
	Fs         afero.Fs
	Roots      []Root // in the order of preference; at most one is Own
	Home, Temp string
	RealPath   func(string) (string, error) // nil: there are no symbolic links
	Now        func() time.Time
	SessionDir string // when set, all sessions are in it, flat, and Roots is not looked at
}

func (f Finder) now() time.Time { return f.Now() }

// ListOptions narrow or widen a listing. The zero value is what a picker shows.
type ListOptions struct {
	IncludeEmpty bool   // also sessions without messages
	SessionDir   string // instead of Finder.SessionDir
	NoText       bool   // leave Info.AllText empty, for a list that is not searched

	// Progress, when set, is called after each file, never twice at a time.
	Progress func(done, total int)
}

// List describes the sessions of cwd in every root, newest first; sessions changed in
// the same moment by file name from the end of the alphabet. It looks into every
// directory that cwd may have had, and what is in them belongs to the cwd that the
// header names, or to the directory when it names none. An explicit session directory
// is listed whole.
//
// A file or directory that cannot be read is a Problem that names it. The errors are
// kind invalidArgument when cwd is not absolute, and kind cancelled.
//
// Differs: the originals list whatever is in the directory, also another project's
// sessions whose path happens to be encoded alike, and they create it.
func (f Finder) List(ctx context.Context, cwd string, opts ListOptions) ([]Info, []Problem, error) {
	folders, own, err := f.foldersOf(cwd, f.Roots, opts.SessionDir)
	if err != nil {
		return nil, nil, err
	}
	return f.list(ctx, folders, opts, own)
}

// ListAll is [Finder.List] for every working directory. Sessions are files in the
// directories of a root, or in the root itself; what lies deeper are the transcripts
// of sub-agents.
func (f Finder) ListAll(ctx context.Context, opts ListOptions) ([]Info, []Problem, error) {
	return f.list(ctx, f.allFolders(opts.SessionDir), opts, owner{any: true})
}

// Describe describes the session file at path, wherever it is.
func (f Finder) Describe(path string) (Info, error) {
	return Describe(f.Fs, path, f.rootOf(path), f.now())
}

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

// filesIn returns the session files of folders: regular files named *.jsonl that are
// not hidden. A folder that does not exist is empty.
func (f Finder) filesIn(folders []folder) (files []sessionFile, problems []Problem) {
	problems = []Problem{} // the wire wants an empty list, not null
	for _, d := range folders {
		entries, err := afero.ReadDir(f.Fs, d.path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, Problem{Kind: UnreadableFile, Message: ioFault("read", d.path, err).Error()})
		}
		for _, e := range entries {
			if isSessionName(e.Name()) && e.Mode().IsRegular() {
				files = append(files, sessionFile{filepath.Join(d.path, e.Name()), e, d.root})
			}
		}
	}
	return files, problems
}

// namesIn is filesIn without a look at the files themselves; their info is nil. On
// a large store that is most of the time.
func (f Finder) namesIn(folders []folder) (files []sessionFile) {
	for _, d := range folders {
		dir, err := f.Fs.Open(d.path)
		if err != nil {
			continue
		}
		names, _ := dir.Readdirnames(-1)
		_ = dir.Close()
		for _, name := range names {
			if isSessionName(name) {
				files = append(files, sessionFile{filepath.Join(d.path, name), nil, d.root})
			}
		}
	}
	return files
}

// statRegular completes files with their info and drops what is no regular file.
func (f Finder) statRegular(files []sessionFile) []sessionFile {
	lstat := func(path string) (os.FileInfo, error) { return f.Fs.Stat(path) }
	if l, ok := f.Fs.(afero.Lstater); ok {
		lstat = func(path string) (os.FileInfo, error) {
			info, _, err := l.LstatIfPossible(path)
			return info, err
		}
	}
	var regular []sessionFile
	for _, file := range files {
		var err error
		if file.info, err = lstat(file.path); err == nil && file.info.Mode().IsRegular() {
			regular = append(regular, file)
		}
	}
	return regular
}

func isSessionName(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".")
}

// sortFiles puts the files changed last first, then those with the later name.
func sortFiles(files []sessionFile) {
	slices.SortFunc(files, func(a, b sessionFile) int {
		return cmp.Or(b.info.ModTime().Compare(a.info.ModTime()), byName(b.path, a.path))
	})
}

func byName(a, b string) int {
	return cmp.Or(strings.Compare(filepath.Base(a), filepath.Base(b)), strings.Compare(a, b))
}

func (f Finder) list(ctx context.Context, folders []folder, opts ListOptions, own owner) ([]Info, []Problem, error) {
	files, problems := f.filesIn(folders)
	keep := func(_ int, h Header) bool { return own.has(h.Cwd) }
	if own.any {
		keep = nil
	}
	results, err := f.describeAll(ctx, files, opts, keep)
	if err != nil {
		return nil, nil, err
	}
	infos := []Info{}
	for _, r := range results {
		switch {
		case r.err == nil && (r.info.MessageCount > 0 || opts.IncludeEmpty):
			infos = append(infos, r.info)
		case r.err != nil:
			problems = append(problems, listProblem(r.err)...)
		}
	}
	sortInfos(infos)
	return infos, problems, nil
}

func sortInfos(infos []Info) {
	slices.SortFunc(infos, func(a, b Info) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), byName(b.Path, a.Path))
	})
}

func noHeaderFault(path string, size int64) error {
	what := "has no readable session header"
	if size == 0 {
		what = "is empty"
	}
	return fault.New(fault.Damaged, "%s %s; nothing was changed.", path, what).With("path", path)
}

// listProblem words why a file is not in the list. That it is another project's or
// was deleted in the meantime needs no word.
func listProblem(err error) []Problem {
	switch {
	case errors.Is(err, errNotWanted), fault.Is(err, fault.NotFound):
		return nil
	case fault.Is(err, fault.Damaged):
		return []Problem{{Kind: NoHeader, Message: err.Error(), Lost: true}}
	default:
		return []Problem{{Kind: UnreadableFile, Message: err.Error(), Lost: true}}
	}
}

// described is what became of one file.
type described struct {
	info Info
	err  error
}

// maxListWorkers bounds how many files are open at a time.
const maxListWorkers = 8

// describeAll describes files on all processors. Between files, and between the lines
// of a long one, it looks whether ctx is done; the error is then kind cancelled.
func (f Finder) describeAll(ctx context.Context, files []sessionFile, opts ListOptions, keep func(i int, h Header) bool) ([]described, error) {
	results := make([]described, len(files))
	var next atomic.Int64
	var mu sync.Mutex // guards done and keeps Progress from overlapping
	done, now := 0, f.now()
	work := func() {
		d := describer{fs: f.Fs, now: now, noText: opts.NoText, stop: func() bool { return ctx.Err() != nil }}
		for i := int(next.Add(1)) - 1; i < len(files) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
			var want func(Header) bool
			if keep != nil {
				want = func(h Header) bool { return keep(i, h) }
			}
			results[i].info, results[i].err = d.describe(files[i], want)
			if opts.Progress != nil {
				mu.Lock()
				done++
				opts.Progress(done, len(files))
				mu.Unlock()
			}
		}
	}
	var workers sync.WaitGroup
	for range min(maxListWorkers, runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(work)
	}
	workers.Wait()
	return results, cancelled(ctx)
}

// cancelled is ctx's error as a fault, or nil.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &fault.Error{Kind: fault.Cancelled, Message: "The listing was cancelled.", Err: err}
	}
	return nil
}
