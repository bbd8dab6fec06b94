package history

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"
)

// Recent returns the newest prompts, newest first: of one directory, or of all with cwd "".
// Pending prompts are among them, also with an error about why the database cannot
// be read.
func (s *Store) Recent(ctx context.Context, limit int, cwd string) ([]Entry, error) {
	return s.find(ctx, query{}, limit, cwd)
}

// Search returns the newest prompts that contain every word of text, where a word may be a prefix;
// see [Store.Recent] for the rest. A text without words matches nothing.
func (s *Store) Search(ctx context.Context, text string, limit int, cwd string) ([]Entry, error) {
	q := parseQuery(text)
	if q.empty() {
		return nil, nil
	}
	return s.find(ctx, q, limit, cwd)
}

func (s *Store) find(ctx context.Context, q query, limit int, cwd string) ([]Entry, error) {
	limit = min(limit, MaxLimit)
	if !s.records() || limit <= 0 {
		return nil, nil
	}
	type result struct {
		entries []Entry
		err     error
	}
	found := make(chan result, 1)
	s.do(func(w *worker) {
		var r result
		defer func() { found <- r }()
		r.entries, r.err = w.find(ctx, q, limit, cwd)
	})
	select {
	case r := <-found:
		return r.entries, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// find searches the pending prompts, then the database. Nothing can be in both: only this goroutine
// moves prompts.
func (w *worker) find(ctx context.Context, q query, limit int, cwd string) (entries []Entry, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, p := range slices.Backward(w.waiting()) {
		again := len(entries) > 0 && entries[len(entries)-1].Prompt == p.Text
		if len(entries) < limit && !again && (cwd == "" || p.Cwd == cwd) && q.found(p.Text) {
			entries = append(entries, p.entry())
		}
	}
	if len(entries) == limit || w.s.Problem() == nil && !w.s.exists() {
		return entries, nil
	}
	db, err := w.open(ctx)
	if err != nil {
		return entries, err
	}
	stored, err := db.find(ctx, q, limit-len(entries), cwd)
	if err != nil && ctx.Err() == nil {
		err = openFault(w.s.cfg.Path, err)
	}
	if len(entries) > 0 && len(stored) > 0 && stored[0].Prompt == entries[len(entries)-1].Prompt {
		stored = stored[1:]
	}
	return append(entries, stored...), err
}

// waiting returns the prompts that are not written yet, oldest first.
func (w *worker) waiting() []pendingPrompt {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return slices.Clone(w.s.pending)
}

// find searches the database. If the index cannot be read, it searches without it.
func (d *database) find(ctx context.Context, q query, limit int, cwd string) ([]Entry, error) {
	if q.match == "" {
		entries, _, err := d.run(ctx, search{query: q, limit: limit, cwd: cwd})
		return entries, err
	}
	entries, rest, ok, err := d.newestMatching(ctx, q, limit, cwd)
	if ok || err != nil {
		return entries, err
	}
	if entries, err = d.match(ctx, rest, limit, cwd); errors.Is(err, errUnsure) {
		entries, err = d.match(ctx, q, limit, cwd)
	}
	if err == nil || ctx.Err() != nil || isBusy(err) {
		return entries, err
	}
	entries, _, plainErr := d.run(ctx, search{query: q.unindexed(), limit: limit, cwd: cwd})
	if plainErr != nil {
		return nil, err
	}
	return entries, nil
}

// match searches with the index. The index knows the order of the rows but not their times, and
// sorting all matches by time takes a tenth of a second where there are many. Rows are almost
// always in that order. So the newest rows are taken first; only if an older row is younger than
// one of these, which the other index shows, all matches are sorted.
func (d *database) match(ctx context.Context, q query, limit int, cwd string) ([]Entry, error) {
	entries, first, err := d.run(ctx, search{query: q, limit: limit, cwd: cwd, byRow: true})
	if err != nil || len(entries) == 0 {
		return entries, err
	}
	if len(entries) == limit {
		oldest := slices.MinFunc(entries, func(a, b Entry) int { return a.Created.Compare(b.Created) })
		var younger bool
		const statement = `SELECT EXISTS (SELECT 1 FROM history WHERE created_at >= ? AND id < ?)`
		if err := d.conn.QueryRowContext(ctx, statement, oldest.Created.Unix(), first).Scan(&younger); err != nil {
			return nil, err
		}
		if younger {
			entries, _, err = d.run(ctx, search{query: q, limit: limit, cwd: cwd})
			return entries, err
		}
	}
	// Of one second the row decides, and that is their order now.
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.Created.Compare(a.Created) })
	return entries, nil
}

// search is a statement to be made.
type search struct {
	query
	limit int
	cwd   string
	byRow bool // newest rows first, not newest times
}

// statement is the SQL of a search, with its parameters. It contains no text of the user.
func (s search) statement(has shape) (text string, args []any) {
	var b strings.Builder
	column := "NULL"
	if has.cwd {
		column = "h.cwd"
	}
	b.WriteString("SELECT h.id, h.prompt, CAST(h.created_at AS INTEGER), " + column + " FROM ")
	if s.match != "" {
		// CROSS: the matches of the index are looked up, not the other way round.
		b.WriteString("history_fts AS f CROSS JOIN history AS h ON h.id = f.rowid WHERE history_fts MATCH ?")
		args = append(args, s.match)
	} else {
		b.WriteString("history AS h WHERE TRUE")
	}
	// likely: with rows in the order of time the first ones found are enough; for a condition
	// that few rows meet SQLite would read and sort them all.
	for _, text := range s.like {
		b.WriteString(` AND likely(h.prompt LIKE ? ESCAPE '\')`)
		args = append(args, likePattern(text))
	}
	if s.cwd != "" {
		b.WriteString(" AND likely(" + column + " = ?)")
		args = append(args, s.cwd)
	}
	if s.byRow {
		b.WriteString(" ORDER BY f.rowid DESC")
	} else {
		b.WriteString(" ORDER BY h.created_at DESC, h.id DESC")
	}
	if len(s.common) > 0 {
		return b.String(), args // how many rows it takes is not known
	}
	b.WriteString(" LIMIT ?")
	return b.String(), append(args, s.limit)
}

// run runs a search. first is the lowest row of the matches.
func (d *database) run(ctx context.Context, s search) (entries []Entry, first int64, err error) {
	statement, args := s.statement(d.shape)
	err = each(ctx, d.conn, statement, args, func(scan func(...any) error) error {
		var id, at int64
		var e Entry
		var cwd sql.NullString
		if err := scan(&id, &e.Prompt, &at, &cwd); err != nil {
			return err
		}
		e.ID, e.Created, e.Cwd = id, time.Unix(at, 0), cwd.String
		if len(s.common) > 0 {
			switch fits(e.Prompt, s.common, nil) {
			case no:
				return nil
			case unsure:
				return errUnsure
			}
		}
		if len(entries) == 0 || id < first {
			first = id
		}
		if entries = append(entries, e); len(entries) == s.limit {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, 0, err
	}
	return entries, first, nil
}

// Problem returns the reason why the history cannot be read or written, nil if none is known.
func (s *Store) Problem() error {
	if !s.records() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.off
}
