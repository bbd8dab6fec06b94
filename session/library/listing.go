package library

import (
	"context"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/rows"
)

// listing describes many files: from the cache if it has their current state, otherwise by
// reading them. Of a file in the cache it decodes the description only if somebody will see it.
type listing struct {
	f     Finder
	opts  ListOptions
	whole bool // files are all session files of folders
	own   owner
	match func(i int, h session.Header) bool // nil: all sessions of own are wanted
	query *query                             // nil: no search

	everywhere bool // files are of several working directories

	now     time.Time // before any file was inspected: a later change gets a later stamp
	folders []folder
	files   []sessionFile // regular ones, in the order of the list
	cache   *rows.File    // nil: none
	found   []found       // by file
	infos   []Info        // by file; nil if only some are described

	mu   sync.Mutex // also keeps Progress and Each from overlapping
	done []bool     // by file; guarded by mu
	told int        // files that were passed to Each or are not listed; guarded by mu
	seen int        // listed ones of them; guarded by mu
	n    int        // files done; guarded by mu
}

// found is the result for one file.
type found struct {
	row    rows.Row // of the file's current state, if the cache has it
	fresh  *rows.Facts
	key    uint64 // hash of the slug without a number
	info   *Info  // nil until it is needed
	err    error
	listed bool    // the list shows it
	first  bool    // the snippet is from the first message, whose entry is not known yet
	score  float64 // of the query; the lower the better
}

// look inspects the session files of folders whose names fit, and meanwhile reads the cache. want
// may be nil.
func (l *listing) look(ctx context.Context, folders []folder, want func(name string) bool) (problems []session.Problem, err error) {
	l.now, l.folders = l.f.now(), folders
	var cache sync.WaitGroup
	if l.f.CacheDir != "" && !l.opts.AllText {
		cache.Go(func() { l.cache = rows.Open(l.f.Fs, l.f.cachePath()) })
	}
	for i := range folders {
		folders[i].setHead()
	}
	l.files, problems, err = l.f.regularIn(ctx, folders, want)
	l.files = sorted(l.files)
	cache.Wait()
	if l.cache != nil {
		for i := range folders {
			folders[i].rows = l.cache.Dir(folders[i].key())
		}
	}
	return problems, err
}

// close ends the use of the cache.
func (l *listing) close() {
	if l.cache != nil {
		l.cache.Close()
	}
}

// slugs reports whether sessions get slugs: only if all that may have the same are known. With
// Each, infos are passed on before.
func (l *listing) slugs() bool { return l.whole && (l.opts.Each == nil || l.query != nil) }

// lazy reports whether only some of the sessions will be shown.
func (l *listing) lazy() bool {
	return l.query == nil && l.match == nil && (l.opts.Limit > 0 || l.opts.Skip > 0 || l.opts.Only != "")
}

// run describes the files. Between files, and between the lines of a long one, it checks
// whether ctx is done; the error is then of kind cancelled.
func (l *listing) run(ctx context.Context) error {
	if l.cache != nil && !l.lazy() {
		l.cache.Preload(len(l.files))
	}
	l.found = make([]found, len(l.files))
	if l.whole && !l.lazy() {
		l.infos = make([]Info, len(l.files))
	}
	if l.opts.Each != nil {
		l.done = make([]bool, len(l.files))
	}
	return InParallel(ctx, len(l.files), func() func(int) {
		w := l.newWorker(ctx)
		return func(i int) {
			if !w.recall(i) {
				w.read(i)
			}
			if !l.lazy() {
				w.fill(i)
				w.search(i)
			}
			w.tell(i)
		}
	})
}

// page returns the sessions that the list shows, in their order, with their descriptions.
func (l *listing) page(ctx context.Context) ([]*found, error) {
	shown := make([]int, 0, len(l.found))
	for i := range l.found {
		if l.found[i].listed && (l.opts.Only == "" || l.files[i].path() == l.opts.Only) {
			shown = append(shown, i)
		}
	}
	if l.query != nil {
		slices.SortStableFunc(shown, func(a, b int) int { return byMatch(&l.found[a], &l.found[b]) })
	}
	shown = l.opts.cut(shown)
	if l.lazy() {
		err := InParallel(ctx, len(shown), func() func(int) {
			w := l.newWorker(ctx)
			return func(n int) { w.fill(shown[n]) }
		})
		if err != nil {
			return nil, err
		}
	}
	if l.slugs() {
		l.numberSlugs(ctx, shown)
	}
	page := make([]*found, 0, len(shown))
	for _, i := range shown {
		if l.found[i].listed { // it may have gone meanwhile
			page = append(page, &l.found[i])
		}
	}
	return page, l.show(ctx, page)
}

// maxNamed is the most sessions of a page whose first message is looked for.
const maxNamed = 200

// show adds to the sessions of a page why they fit the query. A list doesn't know the entries of the first messages that
// snippets are from: these sessions are opened.
func (l *listing) show(ctx context.Context, page []*found) error {
	if l.query == nil {
		return nil
	}
	return InParallel(ctx, len(page), func() func(int) {
		w := l.newWorker(ctx)
		return func(i int) {
			o := page[i]
			if l.query.show(o); o.first && i < maxNamed {
				o.info.EntryID = w.d.firstEntry(o.info.Path)
			}
		}
	})
}

// firstEntry returns the entry of the first message of a session, "" if it is not near the beginning of the file.
func (d *describer) firstEntry(path string) string {
	f, err := d.fs.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	s := survey{}
	_, _ = s.scan(io.LimitReader(f, firstReach), func() bool { return s.first != "" || d.stop() }, s.add)
	return s.firstEntry
}

// take returns the descriptions of a page. Nothing else can be asked of l afterwards.
func (l *listing) take(page []*found) []Info {
	infos := l.infos
	if infos == nil || l.query != nil { // there is no room, or another order
		infos = make([]Info, len(page))
	}
	for i, o := range page {
		infos[i] = *o.info // never behind its own place
	}
	return infos[:len(page):len(page)]
}

// cut returns the part of a list that is asked for.
func (o ListOptions) cut(list []int) []int {
	list = list[min(max(o.Skip, 0), len(list)):]
	if o.Limit > 0 {
		list = list[:min(o.Limit, len(list))]
	}
	return list
}

// remember stores the new facts in the cache. It ignores a failure, because a later list stores them.
func (l *listing) remember() {
	if l.cache == nil || !l.whole || !slices.ContainsFunc(l.found, func(o found) bool { return o.fresh != nil }) {
		return
	}
	u := rows.Update{Now: l.now}
	for i := range l.found {
		switch o := &l.found[i]; {
		case o.fresh != nil:
			u.New = append(u.New, *o.fresh)
		case o.row.Found():
			u.Kept = append(u.Kept, o.row)
		}
	}
	for _, d := range l.folders {
		u.Listed = append(u.Listed, d.key())
	}
	_ = l.cache.Save(u)
}

// worker describes files on one processor.
type worker struct {
	*listing
	d    describer
	owns map[string]bool // by working directory; resolving links takes longer than the list
}

func (l *listing) newWorker(ctx context.Context) worker {
	stop := func() bool { return ctx.Err() != nil }
	return worker{l, describer{fs: l.f.Fs, text: l.opts.AllText, stop: stop, indexes: &indexes{&l.f, stop}}, map[string]bool{}}
}

// keep returns a place for the description of file i.
func (w worker) keep(i int, info Info) *Info {
	if w.infos == nil {
		return &info
	}
	w.infos[i] = info
	return &w.infos[i]
}

// has is owner.has.
func (w worker) has(cwd string) bool {
	if w.own.all {
		return true
	}
	owns, known := w.owns[cwd]
	if !known {
		owns = w.own.has(cwd)
		w.owns[cwd] = owns
	}
	return owns
}

// recall takes what a list needs to know of file i from the cache, if that has its current state.
func (w worker) recall(i int) bool {
	if w.cache == nil {
		return false
	}
	file, o := &w.files[i], &w.found[i]
	row := file.dir.rows.Find(file.name)
	if !row.Found() {
		return false
	}
	flags := recordFlags(row.Flags())
	if now, _ := disk.StampOf(file.Info, w.now); row.Stamp() != now || flags.root() != file.dir.root.Dialect {
		return false
	}
	o.row, o.key = row, row.Key()
	switch {
	case flags&recordHeader == 0:
		o.err = NoHeaderFault(file.path(), file.Info.Size())
	case !w.has(row.Group()):
		o.err = errNotWanted
	case w.match != nil:
		if w.fill(i); o.err == nil && !w.match(i, session.Header{ID: o.info.ID, Cwd: o.info.Cwd}) {
			o.err = errNotWanted
		}
	}
	if o.row.Found() { // fill may have read the file instead
		o.listed = o.err == nil && (flags&recordMessages != 0 || w.opts.IncludeEmpty)
	}
	return true
}

// fill makes the description of file i, if it is a session that is wanted.
func (w worker) fill(i int) {
	file, o := &w.files[i], &w.found[i]
	if o.err == nil && o.info == nil {
		if text, ok := w.cache.Text(o.row); ok {
			if record, ok := readRecord(text, file.Info.Size()); ok && record.fits(file, o.row) {
				o.info = w.keep(i, record.describe(file))
			}
		}
		if o.info == nil { // the text is damaged
			o.row = rows.Row{}
			w.read(i)
		}
	}
	if o.err == nil && o.info.TimeAgo == "" {
		o.info.wordTimes(w.now)
		if w.slugs() {
			o.info.Slug = Slug(o.info.Title, o.info.ID)
		}
	}
}

// read describes file i by reading it.
func (w worker) read(i int) {
	file, o := &w.files[i], &w.found[i]
	now, rested := disk.StampOf(file.Info, w.now)
	info, err := w.d.describe(*file, func(h session.Header) bool {
		return w.has(h.Cwd) && (w.match == nil || w.match(i, h))
	})
	o.err = err
	if err == nil {
		o.info, o.key = w.keep(i, info), rows.Hash(Slug(info.Title, info.ID))
	}
	o.listed = err == nil && (info.MessageCount > 0 || w.opts.IncludeEmpty)
	if w.cache == nil || !rested || w.d.stop() || err != nil && !fault.Is(err, fault.Damaged) {
		return
	}
	o.fresh = factsOf(file, now, info, o.key, err == nil)
}

// tell notifies the caller that file i is done.
func (w worker) tell(i int) {
	l := w.listing
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
		w.tellNextLocked()
	}
}

// tellNextLocked passes the next file to Each, if it is in the list.
func (w worker) tellNextLocked() {
	o, l := &w.found[w.told], w.listing
	if !o.listed {
		return
	}
	l.seen++
	if n := l.seen - l.opts.Skip; n <= 0 || l.opts.Limit > 0 && n > l.opts.Limit {
		return
	}
	if w.fill(l.told); o.listed {
		l.opts.Each(*o.info)
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
