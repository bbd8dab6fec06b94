package agent

import (
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/capture"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// page is one entry of a session with a record or a review.
type page struct {
	record *change.Record
	review *change.Review
}

// changesReader reads the book of a session incrementally. It is not safe for concurrent use.
type changesReader struct {
	pages []page
	read  int    // entries
	last  string // the id of the last one that was read
	at    int    // its index
	book  *change.Book
	extra int // waiting records in the book
}

// update returns the book of a session and its waiting records. A session that was replaced is read from its beginning.
func (r *changesReader) update(d *session.Document, waiting []capture.Entry, load func(string) ([]byte, error), log *zap.Logger) (*change.Book, error) {
	n := d.Len()
	if n < r.read || r.read > 0 && d.ID(r.at) != r.last {
		*r = changesReader{}
	}
	if r.book != nil && n == r.read && len(waiting) == r.extra {
		return r.book, nil
	}
	for i := r.read; i < n; i++ {
		if d.Type(i) != session.TypeCustom {
			continue
		}
		e, err := d.Entry(i)
		if err != nil {
			return nil, err
		}
		if p, ok := pageOf(e, i, load, log); ok {
			r.pages = append(r.pages, p)
		}
	}
	r.read = n
	if n > 0 {
		r.at, r.last = n-1, d.ID(n-1)
	}
	r.book, r.extra = bookOf(r.pages, n, waiting, load, log), len(waiting)
	return r.book, nil
}

// pageOf reads an entry. It returns an unreadable record for an entry that can't be read.
func pageOf(e session.Entry, seq int, load func(string) ([]byte, error), log *zap.Logger) (p page, ok bool) {
	c := e.AsCustom()
	switch c.CustomType {
	case change.Type:
		at, _ := time.Parse(time.RFC3339, e.Timestamp)
		return page{record: recordOf(capture.Entry{ID: e.ID, Data: c.Data}, seq, at, load, log)}, true
	case change.ReviewType:
		v, err := change.ParseReview(c.Data)
		if err != nil || v == nil {
			log.Warn("a review of changes can't be read", zap.String("entry", e.ID), zap.Error(err))
			return page{}, false
		}
		v.Seq = seq
		return page{review: v}, true
	}
	return page{}, false
}

func recordOf(e capture.Entry, seq int, at time.Time, load func(string) ([]byte, error), log *zap.Logger) *change.Record {
	r, err := change.ParseRecord(e.Data, load)
	if err != nil {
		log.Warn("a record of changes can't be read", zap.String("entry", e.ID), zap.Error(err))
		r = &change.Record{Unreadable: true}
	}
	r.ID, r.Seq, r.Time = e.ID, seq, at
	return r
}

// bookOf creates a book. It is not changed afterwards, so its readers need no lock.
func bookOf(pages []page, n int, waiting []capture.Entry, load func(string) ([]byte, error), log *zap.Logger) *change.Book {
	book := change.NewBook()
	for _, p := range pages {
		if p.review != nil {
			book.AddReview(p.review)
			continue
		}
		book.Add(p.record)
	}
	for i, e := range waiting {
		book.Add(recordOf(e, n+i, time.Time{}, load, log))
	}
	return book
}

// changesBook returns the records of the live session, including those that wait for its file. The book must not be changed.
func (s *Session) changesBook() (*change.Book, error) { return s.ledgerOf(s.current()).book() }

// book returns the records of the session, including the waiting records of an earlier process, which it does not append.
func (l *ledger) book() (book *change.Book, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, store := l.waiting, l.contentsLocked()
	if dir := dirOf(l.log); !l.restored && dir != "" {
		left, err := l.file(dir).Read()
		if err != nil {
			l.s.m.log.Warn("waiting records of changes can't be read", zap.String("path", dir), zap.Error(err))
		}
		waiting = merged(left, waiting)
	}
	err = l.log.View(func(d *session.Document, _ session.Leaf) error {
		book, err = l.reader.update(d, newIn(d, waiting), store.Get, l.s.m.log)
		return err
	})
	return book, err
}

// newIn returns the waiting records that are not entries of the session yet.
func newIn(d *session.Document, waiting []capture.Entry) (fresh []capture.Entry) {
	for _, e := range waiting {
		if _, err := d.Index(e.ID); e.ID == "" || err != nil {
			fresh = append(fresh, e)
		}
	}
	return fresh
}

// maxBooks is the maximum number of cached books of sessions that are not live.
const maxBooks = 8

// books is a cache of the books of sessions that are not live. It is safe for concurrent use.
type books struct {
	mu   sync.Mutex
	kept []keptBook // guarded by mu; the newest last
}

type keptBook struct {
	path  string
	size  int64
	mod   time.Time
	wait  int64 // the size of the file of waiting records
	book  *change.Book
	store *contents.Store
}

// changesBookOf returns the records of a session file, and the contents. It writes nothing. The book must not be changed.
func (m *Manager) changesBookOf(path string) (*change.Book, *contents.Store, error) {
	info, err := m.cfg.Store.Fs.Stat(path)
	if err != nil {
		_, err = m.cfg.Store.Load(path) // returns an error for the user
		return nil, nil, err
	}
	dir := ""
	if artifacts, ok := session.ArtifactDir(path); ok {
		dir = filepath.Join(artifacts, "changes")
	}
	now := keptBook{path: path, size: info.Size(), mod: info.ModTime()}
	file := capture.Waiting{Fs: m.cfg.Store.Fs, Dir: dir}
	now.wait = file.Size()
	m.books.mu.Lock()
	defer m.books.mu.Unlock()
	for _, k := range m.books.kept {
		if k.path == path && k.size == now.size && k.mod.Equal(now.mod) && k.wait == now.wait {
			return k.book, k.store, nil
		}
	}
	c := m.cfg.Changes
	now.store = contents.Open(contents.Options{Fs: m.cfg.Store.Fs, Dir: dir, MaxFile: c.MaxFile, MaxSession: c.MaxSession, Exclude: c.Exclude})
	d, err := m.cfg.Store.Load(path)
	if err != nil {
		return nil, nil, session.Closing(err, d)
	}
	defer func() { _ = d.Close() }()
	waiting, err := file.Read()
	if err != nil {
		m.log.Warn("waiting records of changes can't be read", zap.String("path", dir), zap.Error(err))
	}
	if now.book, err = new(changesReader).update(d, newIn(d, waiting), now.store.Get, m.log); err != nil {
		return nil, nil, err
	}
	m.books.keepLocked(now)
	return now.book, now.store, nil
}

func (b *books) keepLocked(k keptBook) {
	for i, old := range b.kept {
		if old.path == k.path {
			b.kept = append(b.kept[:i], b.kept[i+1:]...)
			break
		}
	}
	b.kept = append(b.kept, k)
	if len(b.kept) > maxBooks {
		b.kept = append([]keptBook(nil), b.kept[1:]...)
	}
}
