package history

import (
	"context"
	"database/sql"
	"fmt"
)

// The objects of the database, in the order in which they are made. They must equal those of the
// terminal programs, down to the form of the default: one of them takes another form of it for that
// of an older version and rebuilds the table.
const (
	createTable = `CREATE TABLE history (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	prompt TEXT NOT NULL,
	created_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s', 'now') AS INTEGER)),
	cwd TEXT
)`
	createIndex   = `CREATE INDEX idx_history_created_at ON history (created_at DESC)`
	createFTS     = `CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id')`
	createTrigger = `CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN
	INSERT INTO history_fts (rowid, prompt) VALUES (new.id, new.prompt);
END`
	rebuildFTS = `INSERT INTO history_fts (history_fts) VALUES ('rebuild')`
)

// objects are the four by name, and how each is made.
var objects = []struct{ name, create string }{
	{"history", createTable},
	{"idx_history_created_at", createIndex},
	{"history_fts", createFTS},
	{"history_ai", createTrigger},
}

// shape describes the table of a database.
type shape struct {
	cwd, session bool
	counts       bool // each prompt is stored once, with its number of uses
}

// querier is a connection, in a transaction or not.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// missing returns which of the objects are missing.
func missing(ctx context.Context, q querier) (map[string]bool, error) {
	absent := map[string]bool{}
	for _, o := range objects {
		absent[o.name] = true
	}
	err := each(ctx, q, `SELECT name FROM sqlite_master`, nil, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		delete(absent, name)
		return err
	})
	return absent, err
}

// create creates missing objects, in one transaction, so that no reader sees a part of them. An
// index that is made for a table with prompts holds them from the beginning.
func create(ctx context.Context, conn *sql.Conn) error {
	absent, err := missing(ctx, conn)
	if err != nil || len(absent) == 0 {
		return err
	}
	return immediate(ctx, conn, func() error {
		absent, err := missing(ctx, conn) // another program may have been faster
		if err != nil {
			return err
		}
		for _, o := range objects {
			if !absent[o.name] {
				continue
			}
			if _, err := conn.ExecContext(ctx, o.create); err != nil {
				return err
			}
		}
		if absent["history_fts"] && !absent["history"] {
			_, err = conn.ExecContext(ctx, rebuildFTS)
		}
		return err
	})
}

// readShape reads the columns of the table. Its error names the missing ones.
//
// Differs: xcsh rebuilds a table of an older version when it opens it. Several programs that do so
// at once disturb each other, and this package does not need another form of it.
func readShape(ctx context.Context, q querier) (s shape, err error) {
	columns := map[string]bool{}
	err = each(ctx, q, `SELECT name FROM pragma_table_info('history')`, nil, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		columns[name] = true
		return err
	})
	if err != nil {
		return s, err
	}
	for _, name := range []string{"id", "prompt", "created_at"} {
		if !columns[name] {
			return s, fmt.Errorf("its table history has no column %s", name)
		}
	}
	once, err := promptsOnce(ctx, q)
	return shape{cwd: columns["cwd"], session: columns["session_id"], counts: once && columns["use_count"]}, err
}

// promptsOnce reports whether the table keeps each prompt once.
func promptsOnce(ctx context.Context, q querier) (once bool, err error) {
	const unique = `SELECT l.name FROM pragma_index_list('history') AS l
WHERE l."unique" AND NOT l.partial AND (SELECT group_concat(i.name) FROM pragma_index_info(l.name) AS i) = 'prompt'`
	err = each(ctx, q, unique, nil, func(func(...any) error) error {
		once = true
		return nil
	})
	return once, err
}

// each calls row for every row of a result.
func each(ctx context.Context, q querier, statement string, args []any, row func(scan func(...any) error) error) error {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// immediate runs f in a transaction that has the write lock from the beginning. Only waiting
// for the lock ends with ctx.
func immediate(ctx context.Context, conn *sql.Conn, f func() error) (err error) {
	committed := false
	defer func() {
		if !committed {
			// The first error is returned. A failed rollback is not an error: it is unknown whether a
			// cancelled BEGIN has begun a transaction.
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	if _, err := conn.ExecContext(context.WithoutCancel(ctx), "COMMIT"); err != nil {
		return err
	}
	committed = true
	return nil
}
