package catalog

import (
	"context"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
	"github.com/xcsh-ls/xcsh-ls/team"
)

const (
	maxHits    = 50
	maxExcerpt = 400 // characters
	maxQuery   = 500 // bytes that are sent
	maxMarks   = 50
)

// found is the result of the last search of a project.
type found struct {
	query  string
	flight *flight // that made it, or makes it
	hits   map[team.SID]hit
	rows   []row // of sessions with a hit that are not in the list
}

// hit is the first text of a session that fits a query.
type hit struct {
	entry   string
	snippet *library.Snippet
}

// on sets the fields of a session in the result of a search.
func (h hit) on(i library.Info) library.Info {
	if h.snippet != nil {
		i.Snippet, i.EntryID = h.snippet, h.entry
		i.Fits = "exact"
	}
	return i
}

// search starts the search for a query, or returns the flight of the last search if that was for the same one: the answer to a search that
// was late is in the next list. An error is not kept.
func (p *project) search(query string) *flight {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.found.flight; last != nil && p.found.query == query {
		select {
		case <-last.done:
			if last.err == nil && last.isLate() {
				p.found.flight = nil // the next list searches again
				return last
			}
		default:
			return last
		}
	}
	f := p.start(func(ctx context.Context) (bool, error) { return p.searchStore(ctx, query) }, func() {})
	p.found = found{query: query, flight: f}
	return f
}

// searchStore searches, and keeps the result if no other search began.
func (p *project) searchStore(ctx context.Context, query string) (differs bool, err error) {
	hits, rows, err := p.hits(ctx, query)
	if err != nil {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found.query != query {
		return false, nil
	}
	p.found.hits, p.found.rows = hits, rows
	return len(hits) > 0, nil
}

// hits returns the first hit of each session, and the sessions that the list has not, in the order of the store.
func (p *project) hits(ctx context.Context, query string) (map[team.SID]hit, []row, error) {
	store, number, err := p.connect(ctx)
	if err != nil || number == 0 {
		return nil, nil, err
	}
	raw, err := store.Search(ctx, []int{number}, short(query, maxQuery), maxHits)
	if err != nil {
		return nil, nil, err
	}
	hits, elsewhere := map[team.SID]hit{}, []team.SID{}
	for _, h := range raw[:min(len(raw), maxHits)] {
		if _, known := hits[h.SID]; known {
			continue
		}
		hits[h.SID] = hit{line(h.Entry, maxName), snippetOf(h.Excerpt)}
		if _, listed := p.row(h.SID); !listed {
			elsewhere = append(elsewhere, h.SID)
		}
	}
	if len(elsewhere) == 0 {
		return hits, nil, nil
	}
	rows, err := p.rowsOf(ctx, store, elsewhere)
	return hits, rows, err
}

// rowsOf asks the store for sessions of the project, the latest first.
func (p *project) rowsOf(ctx context.Context, store team.Store, sids []team.SID) (rows []row, err error) {
	infos, err := store.Infos(ctx, sids)
	if err != nil {
		return nil, err
	}
	seen := map[team.SID]bool{}
	for _, i := range infos {
		if slices.Contains(sids, i.SID) && !seen[i.SID] {
			seen[i.SID] = true
			rows = append(rows, newRow(i, p.c.c.Clock.Now()))
		}
	}
	slices.SortFunc(rows, after)
	return rows, nil
}

// fits returns the function that decides whether a session is in a list with this query.
func (p *project) fits(query string) func(r row) (hit, bool) {
	if query == "" {
		return func(row) (hit, bool) { return hit{}, true }
	}
	var hits map[team.SID]hit
	p.mu.Lock()
	if p.found.query == query {
		hits = p.found.hits
	}
	p.mu.Unlock()
	all := words(query)
	return func(r row) (hit, bool) {
		h, ok := hits[r.SID]
		return h, ok || r.fitsWords(all)
	}
}

// foundElsewhere returns the sessions that the last search found beyond the list.
func (p *project) foundElsewhere(query string) []row {
	p.mu.Lock()
	defer p.mu.Unlock()
	if query == "" || p.found.query != query {
		return nil
	}
	return p.found.rows
}

// Search returns the sessions of the project of cwd in which the store finds the query, with an excerpt of each. It waits for the
// network. The error is of kind offline, refused, notFound (no project) or cancelled.
func (c *Catalog) Search(ctx context.Context, cwd, query string) ([]library.Info, error) {
	key := c.c.Key(cwd)
	if key == "" {
		return nil, noProject(cwd)
	}
	p := c.project(key)
	hits, elsewhere, err := p.hits(ctx, query)
	if err != nil {
		return nil, err
	}
	found := elsewhere
	for sid := range hits {
		if r, ok := p.row(sid); ok {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, after)
	infos := []library.Info{}
	for _, r := range found {
		infos = append(infos, hits[r.SID].on(c.info(r)))
	}
	return infos, nil
}

func noProject(cwd string) error {
	return fault.New(fault.NotFound, "%s belongs to no project that a team could have. Name it: xcsh-ls team share.", cwd).With("cwd", cwd)
}

// snippetOf returns an excerpt with its marks as ranges. An excerpt without a mark has none.
func snippetOf(excerpt string) *library.Snippet {
	s := &library.Snippet{}
	var text strings.Builder
	at, marked := 0, false
	add := func(part string) {
		part = onOneLine(part)
		if n := len(utf16.Encode([]rune(part))); n > 0 {
			if marked && len(s.Ranges) < maxMarks {
				s.Ranges = append(s.Ranges, [2]int{at, at + n})
			}
			at += n
			text.WriteString(part)
		}
	}
	for rest := short(excerpt, maxExcerpt); ; {
		tag := "<b>"
		if marked {
			tag = "</b>"
		}
		before, behind, more := strings.Cut(rest, tag)
		add(before)
		if !more {
			break
		}
		rest, marked = behind, !marked
	}
	s.Text = text.String()
	return s
}

// onOneLine returns a part of a text on one line, with its outer space.
func onOneLine(part string) string {
	return visible.Line(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(part))
}
