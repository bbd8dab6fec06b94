package history

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Limits of a write under one lock: other programs lose their prompts if they wait for the lock for
// too long.
const (
	maxBatch      = 200
	maxBatchBytes = 256 << 10
)

// write writes the oldest pending prompts. Failed writes are retried.
//
// Differs: the programs give up after five seconds, and take a repeated prompt for one that they
// have.
func (w *worker) write() {
	s := w.s
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.mu.Lock()
	batch := batchOf(s.pending)
	s.yield = cancel
	hurry := len(s.tasks) > 0
	s.mu.Unlock()
	if hurry { // a caller hurried before it could ask for it
		cancel()
	}
	db, err := w.open(ctx)
	if err == nil {
		err = w.insert(ctx, db, batch)
	}
	s.mu.Lock()
	s.yield = nil
	if err == nil {
		s.pending = slices.Delete(s.pending, 0, len(batch))
		if len(s.pending) == 0 {
			s.settleLocked()
		}
	}
	yielded, off := ctx.Err() != nil, s.off != nil
	s.mu.Unlock()
	if err != nil && !yielded && !off {
		w.failed(err)
	}
}

// failed deals with a batch that could not be written.
func (w *worker) failed(err error) {
	s := w.s
	if isDamage(err) {
		w.close()
		s.turnOff(openFault(s.cfg.Path, err))
		return
	}
	wait := retryFailed
	if isBusy(err) || fault.Is(err, fault.Busy) {
		wait = retryBusy // it has waited long enough for the lock itself
	} else {
		w.close() // any error may be the connection's
		s.warn(openFault(s.cfg.Path, err).Error() + " Prompts are kept in memory and written later.")
	}
	s.log.Debug("prompts are not recorded yet", zap.Error(err), zap.Duration("again", wait))
	s.mu.Lock()
	s.retryAt = time.Now().Add(wait)
	s.mu.Unlock()
}

// batchOf returns the pending prompts that are written at once, at least one of them.
func batchOf(pending []pendingPrompt) []pendingPrompt {
	bytes := 0
	for i, p := range pending {
		bytes += len(p.Text)
		if i == maxBatch || i > 0 && bytes > maxBatchBytes {
			return slices.Clone(pending[:i])
		}
	}
	return slices.Clone(pending)
}

// insert writes a batch in one transaction. Only waiting for the lock ends with ctx.
func (w *worker) insert(ctx context.Context, db *database, batch []pendingPrompt) error {
	last := w.last
	err := immediate(ctx, db.conn, func() (err error) {
		last, err = db.insert(context.WithoutCancel(ctx), batch, last)
		return err
	})
	if err == nil {
		w.last = last // only after the write: a failed one must not exclude the next
	}
	return err
}

// insert adds prompts, but not one that is the newest already, or the last of this process,
// to a table that does not count. It returns the last one.
func (d *database) insert(ctx context.Context, batch []pendingPrompt, last string) (string, error) {
	newest, err := d.newest(ctx)
	if err != nil {
		return last, err
	}
	add, err := d.conn.PrepareContext(ctx, d.insertStatement())
	if err != nil {
		return last, err
	}
	defer add.Close()
	for _, p := range batch {
		if p.maybe {
			there, err := d.has(ctx, p)
			if err != nil {
				return last, err
			}
			if there {
				continue
			}
		}
		text := p.Text
		if d.counts {
			text = cleanLines(text)
		} else if text == last || text == newest {
			last = text
			continue
		}
		if _, err := add.ExecContext(ctx, sql.Named("prompt", text), sql.Named("at", p.at.Unix()), named("cwd", p.Cwd), named("session", p.SessionID)); err != nil {
			return last, err
		}
		last, newest = text, text
	}
	return last, nil
}

// has reports whether a prompt is stored that was sent at this time, or a moment before or after.
func (d *database) has(ctx context.Context, p pendingPrompt) (there bool, err error) {
	const statement = `SELECT EXISTS (SELECT 1 FROM history WHERE created_at BETWEEN ? AND ? AND prompt = ?)`
	text := p.Text
	if d.counts {
		text = cleanLines(text)
	}
	err = d.conn.QueryRowContext(ctx, statement, p.at.Unix()-2, p.at.Unix()+2, text).Scan(&there)
	return there, err
}

// newest is the prompt that was sent last, by any program.
func (d *database) newest(ctx context.Context) (prompt string, err error) {
	err = d.conn.QueryRowContext(ctx, `SELECT prompt FROM history ORDER BY created_at DESC, id DESC LIMIT 1`).Scan(&prompt)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return prompt, err
}

// The statements of an insert. A row that is used again gets the time and place of that use,
// unless it has a later one.
const (
	insertPlain    = `INSERT INTO history (prompt, created_at) VALUES (:prompt, :at)`
	insertCwd      = `INSERT INTO history (prompt, created_at, cwd) VALUES (:prompt, :at, :cwd)`
	insertSession  = `INSERT INTO history (prompt, created_at, cwd, session_id) VALUES (:prompt, :at, :cwd, :session)`
	insertCounting = insertCwd + `
ON CONFLICT (prompt) DO UPDATE SET created_at = max(created_at, excluded.created_at), cwd = excluded.cwd, use_count = use_count + 1`
	insertCountingSession = insertSession + `
ON CONFLICT (prompt) DO UPDATE SET created_at = max(created_at, excluded.created_at), cwd = excluded.cwd,
	session_id = excluded.session_id, use_count = use_count + 1`
)

func (d *database) insertStatement() string {
	switch {
	case !d.cwd:
		return insertPlain
	case d.counts && d.session:
		return insertCountingSession
	case d.counts:
		return insertCounting
	case d.session:
		return insertSession
	default:
		return insertCwd
	}
}

// named is a parameter that is NULL for an empty text.
func named(name, text string) sql.NamedArg {
	return sql.Named(name, sql.NullString{String: text, Valid: text != ""})
}

// entry returns a pending prompt as a search result.
func (p pendingPrompt) entry() Entry {
	return Entry{Prompt: p.Text, Created: p.at.Truncate(time.Second), Cwd: p.Cwd}
}
