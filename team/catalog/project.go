package catalog

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/team"
)

const (
	pageSize = 50
	maxRows  = 1000 // of a project that are kept; a list of more is searched
)

// latest is a cursor behind all changes: with it, Changes returns nothing but the next cursor.
const latest = team.Cursor(math.MaxUint64)

// project is a project of the store.
type project struct {
	c   *Catalog
	key string

	mu      sync.Mutex
	number  int              // in the store, 0 if it is not known
	store   team.UUID        // that has the number and the cursor
	cursor  team.Cursor      // 0 before the first complete answer
	rows    map[team.SID]row // as they were seen last
	flight  *flight          // that runs; nil without one
	found   found            // by the last search
	shown   time.Time        // the end of polling
	polling bool
}

// flight is a call of the store that several callers may wait for.
type flight struct {
	p    *project
	done chan struct{}
	err  error // after done

	mu   sync.Mutex
	late bool // a caller did not wait, and is notified of a difference
}

// announce makes the end of a flight notify of a difference.
func (f *flight) announce() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = true
}

// isLate reports whether a caller is to be notified.
func (f *flight) isLate() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.late
}

// start runs a call. do reports whether lists show something else now.
func (p *project) start(do func(ctx context.Context) (differs bool, err error), ended func()) *flight {
	f := &flight{p: p, done: make(chan struct{})}
	ok := p.c.goes(func() {
		differs, err := do(p.c.life)
		f.err = err
		ended()
		close(f.done)
		if differs && f.isLate() {
			p.c.c.Changed(p.key)
		}
	})
	if !ok {
		f.err = errClosed
		close(f.done)
	}
	return f
}

// refresh brings the rows up to date. Callers share a flight.
func (p *project) refresh() *flight {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.flight != nil {
		return p.flight
	}
	// start does not wait for p.mu, and the flight ends after this function returned it.
	p.flight = p.start(p.update, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.flight = nil
	})
	select {
	case <-p.flight.done: // the catalog is closed
		f := p.flight
		p.flight = nil
		return f
	default:
		return p.flight
	}
}

// update asks the store for changes, or for all sessions the first time.
func (p *project) update(ctx context.Context) (differs bool, err error) {
	store, number, err := p.connect(ctx)
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	cursor := p.cursor
	p.mu.Unlock()
	if number == 0 {
		return p.replace(nil, 0), nil
	}
	if cursor == 0 {
		return p.first(ctx, store, number)
	}
	infos, next, err := store.Changes(ctx, number, cursor)
	if err != nil {
		return false, err
	}
	return p.apply(infos, next), nil
}

// connect returns the store and the number of the project in it, 0 if it has none. It creates no project.
func (p *project) connect(ctx context.Context) (team.Store, int, error) {
	store, hello, err := p.c.c.Connected(ctx)
	if err != nil {
		return nil, 0, err
	}
	p.mu.Lock()
	if p.store != hello.StoreID {
		p.store, p.number, p.cursor = hello.StoreID, 0, 0
	}
	number := p.number
	p.mu.Unlock()
	if number != 0 {
		return store, number, nil
	}
	projects, err := store.Projects(ctx)
	if err != nil {
		return nil, 0, err
	}
	i := slices.IndexFunc(projects, func(one team.Project) bool { return one.Key == p.key })
	if i < 0 {
		return store, 0, nil
	}
	p.mu.Lock()
	p.number = projects[i].ID
	p.mu.Unlock()
	return store, projects[i].ID, nil
}

// first reads the newest sessions in pages. Changes since its beginning are in the answer to the next call.
func (p *project) first(ctx context.Context, store team.Store, number int) (differs bool, err error) {
	_, next, err := store.Changes(ctx, number, latest)
	if err != nil {
		return false, err
	}
	infos, err := pages(func(q team.ListQuery) ([]team.Info, error) {
		q.Project = number
		return store.List(ctx, q)
	})
	if err != nil {
		return false, err
	}
	return p.replace(infos, next), nil
}

// pages reads pages up to the greatest number of rows. A store that repeats itself ends them.
func pages(list func(q team.ListQuery) ([]team.Info, error)) (infos []team.Info, err error) {
	seen := map[team.SID]bool{}
	q := team.ListQuery{Limit: pageSize}
	for range maxRows / pageSize {
		page, err := list(q)
		if err != nil {
			return nil, err
		}
		page = page[:min(len(page), pageSize)]
		fresh := false
		for _, i := range page {
			if !seen[i.SID] {
				seen[i.SID], fresh = true, true
				infos = append(infos, i)
			}
			q.Before, q.BeforeSID = i.Modified, i.SID
		}
		if len(page) < pageSize || !fresh {
			break
		}
	}
	return infos, nil
}

// replace sets all rows.
func (p *project) replace(infos []team.Info, next team.Cursor) (differs bool) {
	now := p.c.c.Clock.Now()
	rows := make(map[team.SID]row, len(infos))
	for _, i := range infos {
		if !i.Deleted {
			rows[i.SID] = newRow(i, now)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	differs = len(rows) != len(p.rows)
	for sid, r := range rows {
		was, ok := p.rows[sid]
		differs = differs || !ok || !was.same(r)
	}
	p.rows, p.cursor = rows, next
	if differs {
		p.saveLocked()
	}
	return differs
}

// apply sets the rows that changed.
func (p *project) apply(infos []team.Info, next team.Cursor) (differs bool) {
	now := p.c.c.Clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, i := range infos {
		if i.SID.IsZero() {
			continue
		}
		was, known := p.rows[i.SID]
		if i.Deleted {
			delete(p.rows, i.SID)
			differs = differs || known
			continue
		}
		r := newRow(i, now)
		differs = differs || !known || !was.same(r)
		p.rows[i.SID] = r
		if len(p.rows) > 2*maxRows {
			p.trimLocked()
		}
	}
	p.trimLocked()
	p.cursor = next
	if differs {
		p.saveLocked()
	}
	return differs
}

// trimLocked keeps the newest rows.
func (p *project) trimLocked() {
	if len(p.rows) <= maxRows {
		return
	}
	for _, r := range p.sortedLocked()[maxRows:] {
		delete(p.rows, r.SID)
	}
}

// sortedLocked returns the rows, the session that was modified last first.
func (p *project) sortedLocked() []row {
	rows := make([]row, 0, len(p.rows))
	for _, r := range p.rows {
		rows = append(rows, r)
	}
	slices.SortFunc(rows, after)
	return rows
}

// sorted is sortedLocked.
func (p *project) sorted() []row {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sortedLocked()
}

// row returns a session that was seen.
func (p *project) row(sid team.SID) (row, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.rows[sid]
	return r, ok
}

// poll asks for changes as long as the list may be shown.
func (p *project) poll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = p.c.c.Clock.Now().Add(shownFor)
	if !p.polling {
		p.polling = p.c.goes(p.pollAll)
	}
}

// pollAll is the goroutine of poll.
func (p *project) pollAll() {
	for {
		select {
		case <-p.c.life.Done():
			return
		case <-p.c.c.Clock.After(pollEvery):
		}
		p.mu.Lock()
		if p.c.c.Clock.Now().After(p.shown) {
			p.polling = false
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		f := p.refresh()
		f.announce()
		<-f.done
	}
}
