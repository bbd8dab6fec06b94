package dirlist

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Entry is a regular file in a directory. Links are not followed.
type Entry struct {
	Name string
	Info os.FileInfo
}

// Regular returns the regular files of each directory whose names want accepts, in no order. A
// file that disappears meanwhile is left out. The error at a directory's place is that of reading
// the directory; the files found before it are returned too. After the end of ctx the result is
// incomplete. want is called concurrently.
func Regular(ctx context.Context, fsys afero.Fs, dirs []string, want func(name string) bool) (files [][]Entry, failed []error) {
	files, failed = make([][]Entry, len(dirs)), make([]error, len(dirs))
	inParallel(ctx, len(dirs), func(i int) { files[i], failed[i] = regularIn(ctx, fsys, dirs[i], want) })
	return files, failed
}

// stater returns the state of a file of one directory; ok is false if it is missing or not regular.
type stater func(name string) (info os.FileInfo, ok bool)

func regularIn(ctx context.Context, fsys afero.Fs, path string, want func(string) bool) ([]Entry, error) {
	dir, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	entries := make([]Entry, 0, len(names))
	for _, name := range names {
		if want(name) {
			entries = append(entries, Entry{Name: name})
		}
	}
	slow := func(name string) (os.FileInfo, bool) {
		info, err := disk.Lstat(fsys, filepath.Join(path, name))
		return info, err == nil && info.Mode().IsRegular()
	}
	fill(ctx, entries, func(n int) stater { return staterOf(fsys, dir, n, slow) })
	return compact(entries), err
}

// chunk is the number of files that one processor looks at before it takes the next ones.
const chunk = 256

// fill sets the infos of entries. newStater makes the stater of n files.
func fill(ctx context.Context, entries []Entry, newStater func(n int) stater) {
	inParallel(ctx, (len(entries)+chunk-1)/chunk, func(i int) {
		part := entries[i*chunk : min(len(entries), (i+1)*chunk)]
		stat := newStater(len(part))
		for i := range part {
			if info, ok := stat(part[i].Name); ok {
				part[i].Info = info
			}
		}
	})
}

// compact removes the entries without info.
func compact(entries []Entry) []Entry {
	kept := entries[:0]
	for _, e := range entries {
		if e.Info != nil {
			kept = append(kept, e)
		}
	}
	return kept
}

// maxWorkers bounds the number of directories open at a time.
const maxWorkers = 8

// inParallel calls do with 0 to n-1 on all processors, until ctx is done.
func inParallel(ctx context.Context, n int, do func(i int)) {
	if n == 1 {
		if ctx.Err() == nil {
			do(0)
		}
		return
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(maxWorkers, runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}
