package pg

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// Store is a [team.Store] in a PostgreSQL database. It is safe for concurrent use.
type Store struct {
	pool     *wire.Pool
	config   *pgconn.Config
	password func(context.Context) (string, error) // see Config.Password
	timeout  time.Duration
	deaf     time.Duration // see Config.Deaf

	device atomic.Pointer[team.DeviceID] // nil before Hello
}

var (
	_ team.Store    = (*Store)(nil)
	_ team.Follower = (*Store)(nil)
	_ team.Upkeep   = (*Store)(nil)
)

// Open returns the store at the address in c. It doesn't connect yet; the only error is
// InvalidArgument for an address that can't be used.
func Open(c Config) (*Store, error) {
	config, err := c.connection()
	if err != nil {
		return nil, err
	}
	s := &Store{config: config, password: c.Password, timeout: c.timeout(), deaf: cmp.Or(c.Deaf, deafTime)}
	s.pool, err = wire.NewPool(s.connect, maxConns, idleTime)
	return s, err
}

// connect opens a connection.
func (s *Store) connect(ctx context.Context) (*wire.Conn, error) {
	config := s.config
	if s.password != nil {
		password, err := s.password(ctx)
		if err != nil {
			return nil, err
		}
		config = config.Copy()
		config.Password = password
	}
	return wire.Connect(ctx, config)
}

// Close closes all connections. It waits for running calls, which end with their timeouts.
func (s *Store) Close() error {
	s.pool.Close()
	return nil
}

// Hello implements [team.Store].
func (s *Store) Hello(ctx context.Context, d team.Device) (team.Hello, error) {
	var h team.Hello
	var id [16]byte
	err := s.row(ctx, 0, []any{&h.Speaks, &id, &h.Epoch, &h.User, &h.Display, &h.Replica},
		`select speaks, store_id, epoch, person, display, replica from xcsh.hello_v1($1, $2)`, [16]byte(d.ID.UUID), label(d.Label))
	if err != nil {
		return team.Hello{}, s.helloFault(err)
	}
	if err := refusal(h.Speaks); err != nil {
		return team.Hello{}, err
	}
	h.StoreID = id
	s.device.Store(&d.ID)
	return h, nil
}

// label returns a label that the schema accepts.
func label(s string) string {
	runes := []rune(team.PlainText(s))
	return string(runes[:min(len(runes), team.MaxLabel)])
}

// tries is how often a call is tried that competes with others.
const tries = 4

// call runs f with a connection and a timeout that allows for the transfer of n bytes, and translates its error. It
// repeats f, whose function of the protocol can be repeated, after a conflict with another transaction.
func (s *Store) call(ctx context.Context, n int, f func(context.Context, *wire.Conn) error) (err error) {
	limit := s.timeout + time.Duration(min(n, mostBytes)/slowest)*time.Second
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for range tries {
		err = s.pool.Do(limited, func(conn *wire.Conn) error { return f(limited, conn) })
		if !competes(err) {
			break
		}
	}
	return s.fault(ctx, limit, err)
}

// exec calls a function without a result.
func (s *Store) exec(ctx context.Context, sql string, args ...any) error {
	return s.call(ctx, 0, func(ctx context.Context, conn *wire.Conn) error { return conn.Exec(ctx, sql, args...) })
}

// row calls a function and scans the only row of its result into dest.
func (s *Store) row(ctx context.Context, n int, dest []any, sql string, args ...any) error {
	return s.call(ctx, n, func(ctx context.Context, conn *wire.Conn) error { return conn.Row(ctx, dest, sql, args...) })
}

// rows calls a function and each for every row of its result.
func (s *Store) rows(ctx context.Context, n int, each func(wire.Row) error, sql string, args ...any) error {
	return s.call(ctx, n, func(ctx context.Context, conn *wire.Conn) error {
		passed := false
		err := conn.Rows(ctx, func(row wire.Row) error {
			passed = true
			return each(row)
		}, sql, args...)
		if err != nil && passed {
			return partial{err}
		}
		return err
	})
}

// deviceID returns the device of Hello.
func (s *Store) deviceID() ([16]byte, error) {
	d := s.device.Load()
	if d == nil {
		return [16]byte{}, fault.New(fault.Internal, "The team store was used before Hello.")
	}
	return [16]byte(d.UUID), nil
}
