package wire

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrNoRow says that a result has no row.
var ErrNoRow = errors.New("the result has no row")

// Conn is a connection. It is not safe for concurrent use.
type Conn struct {
	pg    *pgconn.PgConn
	heard []string // payloads of notifications that Notification did not return yet
}

// Connect opens a connection. Texts have the encoding UTF-8, whatever the configuration says.
func Connect(ctx context.Context, config *pgconn.Config) (*Conn, error) {
	c := &Conn{}
	config = config.Copy()
	config.RuntimeParams["client_encoding"] = "UTF8"
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) { c.heard = append(c.heard, n.Payload) }
	var err error
	c.pg, err = pgconn.ConnectConfig(ctx, config)
	return c, err
}

// Close ends the connection.
func (c *Conn) Close(ctx context.Context) error { return c.pg.Close(ctx) }

// Run runs statements without arguments, separated by semicolons.
func (c *Conn) Run(ctx context.Context, sql string) error {
	_, err := c.pg.Exec(ctx, sql).ReadAll()
	return err
}

// InTransaction reports whether a transaction is open or has failed.
func (c *Conn) InTransaction() bool { return c.pg.TxStatus() != 'I' }

// usable reports whether another call can use the connection.
func (c *Conn) usable() bool { return !c.pg.IsClosed() && !c.pg.IsBusy() && !c.InTransaction() }

// Exec runs a statement and ignores its rows.
func (c *Conn) Exec(ctx context.Context, sql string, args ...any) error {
	return c.Rows(ctx, func(Row) error { return nil }, sql, args...)
}

// Row runs a statement and scans the first row of its result. It returns [ErrNoRow] if there is none.
func (c *Conn) Row(ctx context.Context, dest []any, sql string, args ...any) error {
	n := 0
	err := c.Rows(ctx, func(r Row) error {
		if n++; n > 1 {
			return nil
		}
		return r.Scan(dest...)
	}, sql, args...)
	if err == nil && n == 0 {
		return ErrNoRow
	}
	return err
}

// Rows runs a statement and calls each for every row of its result, while they arrive. An error of each
// is returned as it is.
func (c *Conn) Rows(ctx context.Context, each func(Row) error, sql string, args ...any) error {
	values, formats, err := encode(args)
	if err != nil {
		return err
	}
	result := c.pg.ExecParams(ctx, sql, values, nil, formats, []int16{binaryFormat})
	for err == nil && result.NextRow() {
		err = each(Row{result.FieldDescriptions(), result.Values()})
	}
	if _, closed := result.Close(); err == nil {
		err = closed
	}
	return err
}

// Notification returns the payload of the next notification of a channel that the connection listens to.
func (c *Conn) Notification(ctx context.Context) (string, error) {
	for len(c.heard) == 0 {
		if err := c.pg.WaitForNotification(ctx); err != nil {
			return "", err
		}
	}
	payload := c.heard[0]
	c.heard = c.heard[1:]
	return payload, nil
}
