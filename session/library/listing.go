package library

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// listing describes many files: from the cache if it has their current state, otherwise by
// reading them.
type listing struct {
	f       Finder
	opts    ListOptions
	folders []folder // whose session files are all in files; nil if files is only a part
	keep    func(i int, h session.Header) bool
	query   *query // nil: no search

	everywhere bool // files are of several working directories

	now     time.Time     // before any file was inspected: a later change gets a later stamp
	files   []sessionFile // regular ones, in the order of the list
	cache   *listCache    // nil: none
	records []string      // of files, for the cache
	gained  atomic.Int64
	results []described

	mu   sync.Mutex // also keeps Progress and Each from overlapping
	done []bool     // by file; guarded by mu
	told int        // files that were passed to Each or are not listed; guarded by mu
	n    int        // files done; guarded by mu
}

// described is the result for one file.
type described struct {
	info   Info
	err    error
	listed bool    // the list shows it
	score  float64 // of the query; the lower the better
}

// look inspects the files, and meanwhile reads the cache.
func (l *listing) look(ctx context.Context, files []sessionFile) (err error) {
	l.now = l.f.now()
	var cache sync.WaitGroup
	if l.f.CacheDir != "" && !l.opts.AllText && len(files) > 0 {
		cache.Go(func() { l.cache = openListCache(l.f.Fs, l.f.CacheDir) })
	}
	l.files, err = l.f.regularFiles(ctx, files)
	sortFiles(l.files)
	cache.Wait()
	return err
}

// run describes the files. Between files, and between the lines of a long one, it checks
// whether ctx is done; the error is then of kind cancelled.
func (l *listing) run(ctx context.Context) ([]described, error) {
	l.results = make([]described, len(l.files))
	l.records = make([]string, len(l.files))
	if l.opts.Each != nil {
		l.done = make([]bool, len(l.files))
	}
	// With Each, infos are passed on before all files with the same slug are known.
	slugs := l.folders != nil && (l.opts.Each == nil || l.query != nil)
	err := InParallel(ctx, len(l.files), func() func(int) {
		d := describer{fs: l.f.Fs, text: l.opts.AllText, stop: func() bool { return ctx.Err() != nil }}
		return func(i int) {
			l.describe(&d, i)
			l.search(&d, i)
			if r := &l.results[i]; r.listed {
				r.info.wordTimes(l.now)
			}
			if r := &l.results[i]; slugs && r.err == nil {
				r.info.Slug = Slug(r.info.Title, r.info.ID)
			}
			l.tell(i)
		}
	})
	if err != nil {
		return nil, err
	}
	if slugs {
		l.numberSlugs()
	}
	if l.cache != nil && l.folders != nil && l.gained.Load() > 0 {
		l.cache.save(l.folders, l.files, l.records, l.now)
	}
	return l.results, nil
}

// describe describes file i.
func (l *listing) describe(d *describer, i int) {
	file, r := l.files[i], &l.results[i]
	defer func() { r.listed = r.err == nil && (r.info.MessageCount > 0 || l.opts.IncludeEmpty) }()
	now, rested := disk.StampOf(file.Info, l.now)
	if l.recall(i, now) {
		return
	}
	var want func(session.Header) bool
	if l.keep != nil {
		want = func(h session.Header) bool { return l.keep(i, h) }
	}
	r.info, r.err = d.describe(file, want)
	if l.cache == nil || !rested || d.stop() || r.err != nil && !fault.Is(r.err, fault.Damaged) {
		return
	}
	record := recordOf(file, now, r.info, r.err == nil)
	if raw := record.append(nil); len(raw) <= maxRecord {
		l.records[i] = string(raw)
		l.gained.Add(1)
	}
}

// recall describes file i from the cache, if that has its current state.
func (l *listing) recall(i int, now disk.Stamp) bool {
	if l.cache == nil {
		return false
	}
	file, r := l.files[i], &l.results[i]
	raw, ok := l.cache.find(file.Path)
	if !ok {
		return false
	}
	record, ok := readRecord(raw)
	if !ok || record.stamp != now || record.root != file.Root.Dialect {
		return false
	}
	l.records[i] = raw
	switch {
	case !record.header:
		r.err = NoHeaderFault(file.Path, now.Size)
	case l.keep != nil && !l.keep(i, session.Header{ID: record.info.ID, Cwd: record.info.Cwd}):
		r.err = errNotWanted
	default:
		r.info = record.describe(file)
	}
	return true
}

// tell notifies the caller that file i is done.
func (l *listing) tell(i int) {
	if l.opts.Progress == nil && l.opts.Each == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	if l.opts.Progress != nil {
		l.opts.Progress(l.n, len(l.files))
	}
	if l.opts.Each == nil || l.query != nil {
		return
	}
	for l.done[i] = true; l.told < len(l.done) && l.done[l.told]; l.told++ {
		if r := &l.results[l.told]; r.listed {
			l.opts.Each(r.info)
		}
	}
}

// maxListWorkers bounds the number of files open at a time.
const maxListWorkers = 8

// InParallel calls a function with 0 to n-1 on all processors, until ctx is done, which is
// an error of kind cancelled. each makes the function of one processor.
func InParallel(ctx context.Context, n int, each func() func(i int)) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(maxListWorkers, runtime.GOMAXPROCS(0), n) {
		workers.Go(func() {
			do := each()
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
	return cancelled(ctx)
}
