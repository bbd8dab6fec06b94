package history

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"
)

// Forgetting selects the prompts to delete.
type Forgetting struct {
	IDs     []int64  // of entries
	Prompts []string // every entry with one of these texts, of any session and folder
	All     bool     // everything; IDs and Prompts are ignored

	// Compact makes the file smaller afterwards and leaves nothing of the texts in it. Without it
	// pieces of them can stay in unused space until the space is used again. Other programs have to
	// wait meanwhile, about a second for 100,000 prompts.
	Compact bool
}

// Forget removes prompts from the database, from the pending ones, and from the unanswered ones,
// and returns the number of removed entries. The entries of the database are removed all or none.
// Other programs keep the prompts that they have read before.
//
// Differs: the programs cannot forget anything.
func (s *Store) Forget(ctx context.Context, f Forgetting) (gone int, err error) {
	if !s.records() {
		return 0, ctx.Err()
	}
	type result struct {
		gone int
		err  error
	}
	done := make(chan result, 1)
	s.do(func(w *worker) {
		var r result
		defer func() { done <- r }()
		r.gone, r.err = w.forget(ctx, f)
	})
	select {
	case r := <-done:
		return r.gone, r.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (w *worker) forget(ctx context.Context, f Forgetting) (gone int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	gone, err = w.forgetStored(ctx, f)
	if err != nil && w.s.Problem() == nil {
		return 0, err // it can be tried again
	}
	w.last = "" // or the same prompt could not be added again
	return gone + w.s.dropPending(f) + w.s.journal.drop(f), err
}

// forgetStored removes entries of the database.
func (w *worker) forgetStored(ctx context.Context, f Forgetting) (gone int, err error) {
	if w.s.Problem() == nil && !w.s.exists() {
		return 0, nil
	}
	db, err := w.open(ctx)
	if err != nil {
		return 0, err
	}
	gone, err = db.forget(ctx, f)
	if err == nil {
		err = db.wipe(ctx, w.s.log)
	}
	if err == nil && f.Compact {
		err = db.compact(ctx)
	}
	if err != nil {
		return gone, openFault(w.s.cfg.Path, err)
	}
	return gone, nil
}

func (f Forgetting) means(text string) bool { return f.All || slices.Contains(f.Prompts, text) }

// dropPending removes pending prompts. Only the worker may call it, because the prompts that are
// being written are at the beginning of the list.
func (s *Store) dropPending(f Forgetting) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.pending)
	s.pending = slices.DeleteFunc(s.pending, func(p pendingPrompt) bool { return f.means(p.Text) })
	if len(s.pending) == 0 {
		s.settleLocked()
	}
	return before - len(s.pending)
}

// drop removes the files of unanswered prompts, except those of running processes.
func (j *journal) drop(f Forgetting) (gone int) {
	var found []left
	j.mu.Lock()
	j.offered = slices.DeleteFunc(j.offered, func(l left) bool {
		if f.means(l.Prompt) {
			found = append(found, l)
		}
		return f.means(l.Prompt)
	})
	j.mu.Unlock()
	for _, l := range j.leftBehind("") {
		if f.means(l.Prompt) {
			found = append(found, l)
		}
	}
	for _, l := range found {
		j.remove(l.name)
	}
	return len(found)
}

// The statements of forgetting. The index receives the old text, because it stores none itself.
const (
	emptyLog     = `PRAGMA wal_checkpoint(TRUNCATE)`
	secureDelete = `PRAGMA secure_delete = ON`
	unindexRow   = `INSERT INTO history_fts (history_fts, rowid, prompt) SELECT 'delete', id, prompt FROM history WHERE id = ?`
	deleteRow    = `DELETE FROM history WHERE id = ?`
)

// forget removes rows, and their entries in the index, in one transaction. An index that is damaged
// is rebuilt.
func (d *database) forget(ctx context.Context, f Forgetting) (gone int, err error) {
	if err := d.exec(ctx, secureDelete); err != nil { // for as long as the connection lives
		return 0, err
	}
	try := func(newIndex bool) error {
		return immediate(ctx, d.conn, func() (err error) {
			gone, err = d.forgetRows(context.WithoutCancel(ctx), f, newIndex)
			return err
		})
	}
	if err = try(false); err != nil && !isBusy(err) && ctx.Err() == nil {
		err = try(true) // SQLite reports some errors of an index as other errors than damage
	}
	return gone, err
}

func (d *database) forgetRows(ctx context.Context, f Forgetting, newIndex bool) (gone int, err error) {
	index, err := readIndexKind(ctx, d.conn)
	if err != nil {
		return 0, err
	}
	if newIndex = newIndex && index != noIndex; newIndex {
		if err := d.exec(ctx, `DROP TABLE history_fts`); err != nil {
			return 0, err
		}
		index = noIndex
	}
	if f.All {
		gone, err = d.deleteAll(ctx, index)
	} else {
		gone, err = d.deleteRows(ctx, f, index)
	}
	if newIndex && err == nil {
		err = d.exec(ctx, createFTS, rebuildFTS)
	}
	return gone, err
}

func (d *database) deleteAll(ctx context.Context, index indexKind) (gone int, err error) {
	result, err := d.conn.ExecContext(ctx, `DELETE FROM history`)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	if err == nil && index != noIndex {
		err = d.exec(ctx, rebuildFTS)
	}
	return int(n), err
}

func (d *database) deleteRows(ctx context.Context, f Forgetting, index indexKind) (gone int, err error) {
	ids, err := d.rowsOf(ctx, f)
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if index == plainIndex {
			if _, err := d.conn.ExecContext(ctx, unindexRow, id); err != nil {
				return 0, err
			}
		}
		if _, err := d.conn.ExecContext(ctx, deleteRow, id); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

// exec runs statements that have no parameters.
func (d *database) exec(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if _, err := d.conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// rowsOf returns the rows that are meant and there.
func (d *database) rowsOf(ctx context.Context, f Forgetting) (ids []int64, err error) {
	add := func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		ids = append(ids, id)
		return err
	}
	for _, id := range f.IDs {
		if err := each(ctx, d.conn, `SELECT id FROM history WHERE id = ?`, []any{id}, add); err != nil {
			return nil, err
		}
	}
	for _, text := range f.Prompts {
		if err := each(ctx, d.conn, `SELECT id FROM history WHERE prompt = ?`, []any{text}, add); err != nil {
			return nil, err
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// indexKind is how to update the index when a row is deleted.
type indexKind int

const (
	noIndex    indexKind = iota // nothing to do: another program removed it
	plainIndex                  // delete from it, as in every known version
	keptIndex                   // do nothing: a trigger updates it, and a second update would damage it
)

func readIndexKind(ctx context.Context, q querier) (kind indexKind, err error) {
	const objects = `SELECT type, coalesce(sql, '') FROM sqlite_master WHERE name = 'history_fts' OR type = 'trigger' AND tbl_name = 'history'`
	err = each(ctx, q, objects, nil, func(scan func(...any) error) error {
		var typ, text string
		err := scan(&typ, &text)
		words := strings.ToUpper(strings.Join(strings.Fields(text), " "))
		switch {
		case typ == "trigger" && strings.Contains(words, " DELETE ON ") && strings.Contains(words, "HISTORY_FTS"):
			kind = keptIndex
		case typ == "table":
			kind = max(kind, plainIndex)
		}
		return err
	})
	return kind, err
}

// wipe removes the old texts from the write-ahead log. A reader can block this, and wipe waits for
// it only briefly, because writers wait meanwhile; the rest is overwritten the next time that the
// log is reused.
func (d *database) wipe(ctx context.Context, log *zap.Logger) error {
	ctx = context.WithoutCancel(ctx)
	if err := d.exec(ctx, "PRAGMA busy_timeout = 50"); err != nil {
		return err
	}
	if err := d.exec(ctx, emptyLog); err != nil {
		log.Debug("the prompt history's log was not emptied", zap.Error(err))
	}
	return d.exec(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", lockTimeout.Milliseconds()))
}

// compact optimizes the index and releases free pages.
func (d *database) compact(ctx context.Context) error {
	return d.exec(ctx, `INSERT INTO history_fts (history_fts) VALUES ('optimize')`, `VACUUM`, emptyLog)
}
