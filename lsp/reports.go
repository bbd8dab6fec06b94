package lsp

import (
	"context"
	"time"
)

const (
	// reportQuiet is the time without reports after which the last report counts as the result of an edit. Some clients report an
	// edit in several steps, and some collect changes for half a second.
	reportQuiet = time.Second

	// reportLimit is the timeout for the reports of an edit that the client has acknowledged.
	reportLimit = 5 * time.Second
)

// reports collects the changes that the client reports after an edit request.
type reports struct {
	d    *Documents
	news chan struct{} // signals a new report; has a buffer of one
	docs []*reportedDoc
	stop []func()
}

// reportedDoc is one document of an edit. Its fields below want are guarded by the lock of the documents.
type reportedDoc struct {
	path string // as the caller named it
	want string
	met  bool // the document has, or had, the wanted text
	now  bool // there are reports, and the newest one has another text
	gone bool // the document was closed
}

// replaced is a document and its new text.
type replaced struct {
	path string // as the caller named it
	doc  Document
	text string
}

// report starts collecting the reports about documents. If a document is no longer open with the given version and text, stale is its
// path.
func (d *Documents) report(docs []replaced) (r *reports, stale string) {
	r = &reports{d: d, news: make(chan struct{}, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range docs {
		now, open := d.byPath[e.doc.Path]
		if !open || now.Version != e.doc.Version || now.Text != e.doc.Text || d.pending[e.doc.Path] != nil {
			return nil, e.path
		}
	}
	for _, e := range docs {
		delete(d.late, e.doc.Path) // the same edit may be asked for again
		rd := &reportedDoc{path: e.path, want: e.text}
		r.docs = append(r.docs, rd)
		r.stop = append(r.stop, d.observeLocked(e.doc.Path, func(doc Document, open bool) {
			rd.gone = rd.gone || !open
			rd.met = rd.met || open && sameLines(doc.Text, rd.want)
			rd.now = !rd.met
			select {
			case r.news <- struct{}{}:
			default:
			}
		}))
	}
	return r, ""
}

func (r *reports) end() {
	for _, stop := range r.stop {
		stop()
	}
}

// reportState summarizes the reports so far.
type reportState struct {
	all   bool   // every document got its text
	some  bool   // at least one did
	other string // the path of a document that was closed, or has another text; "" if there is none
	gone  bool   // other was closed
	left  string // the path of a document without a report; "" if there is none
}

func (r *reports) state() (s reportState) {
	r.d.mu.Lock()
	defer r.d.mu.Unlock()
	s.all = true
	for _, d := range r.docs {
		s.all, s.some = s.all && d.met, s.some || d.met
		switch {
		case d.met:
		case d.gone && !s.gone, d.now && s.other == "":
			s.other, s.gone = d.path, d.gone
		case s.left == "":
			s.left = d.path
		}
	}
	return s
}

// wait waits until every document has its text, one will not get it, limit has passed, or ctx is done. A document with another text
// may still get the wanted one until no reports have come for [reportQuiet].
func (r *reports) wait(ctx context.Context, c Clock, limit time.Duration) reportState {
	over, cancel := timer(c, limit)
	defer cancel()
	for {
		quiet, cancel := timer(c, reportQuiet)
		s := r.state()
		if s.all || s.gone {
			cancel()
			return s
		}
		if s.other == "" {
			cancel()
			quiet = nil
		}
		select {
		case <-r.news:
		case <-quiet:
			return r.state()
		case <-over:
			cancel()
			return r.state()
		case <-ctx.Done():
			cancel()
			return r.state()
		}
		cancel()
	}
}

// timer returns a channel that is closed after d.
func timer(c Clock, d time.Duration) (<-chan struct{}, func()) {
	done := make(chan struct{})
	stop := c.AfterFunc(d, func() { close(done) })
	return done, func() { stop() }
}
