package wire_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func config(t *testing.T, d *pgtest.Database) *pgconn.Config {
	t.Helper()
	c, err := pgconn.ParseConfig(d.Conn(d.Superuser()))
	require.NoError(t, err)
	return c
}

func connect(t *testing.T) *wire.Conn {
	t.Helper()
	c, err := wire.Connect(t.Context(), config(t, pgtest.Empty(t)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) })
	return c
}

type (
	kind int
	id   [16]byte
)

// The server gets what was passed, and returns what it got.
func TestEveryKindOfValue(t *testing.T) {
	t.Parallel()
	c := connect(t)
	moment := time.Date(2026, 2, 3, 4, 5, 6, 789_000, time.UTC)
	hostile := "a'b\"c\\d\n{,}$1é漢"
	var (
		s     string
		yes   bool
		small int16
		n     kind
		large int64
		huge  uint64
		f     float64
		b     []byte
		u     id
		at    time.Time
		none  *string
		some  *string
		raw   wire.Raw
		list  []int
	)
	require.NoError(t, c.Row(t.Context(), []any{&s, &yes, &small, &n, &large, &huge, &f, &b, &u, &at, &none, &some, &list},
		`select $1::text, $2::bool, $3::int2, $4::int4, $5::int8, $6::xid8, $7::float8, $8::bytea, $9::uuid, $10::timestamptz, $11::text, $12::text, $13::int4[]`,
		hostile, true, int16(-3), kind(-70_000), int64(-1)<<62, uint64(1)<<63, -1.5e-300, []byte{0, 255, '\\'}, id{1, 15: 9}, moment.In(time.FixedZone("", 3600)), nil, &hostile, []int{-1, 0, 1 << 30}))
	require.Equal(t, []any{hostile, true, int16(-3), kind(-70_000), int64(-1) << 62, uint64(1) << 63, -1.5e-300, []byte{0, 255, '\\'}, id{1, 15: 9}, moment, []int{-1, 0, 1 << 30}},
		[]any{s, yes, small, n, large, huge, f, b, u, at, list})
	require.Nil(t, none)
	require.Equal(t, &hostile, some)

	require.NoError(t, c.Rows(t.Context(), func(r wire.Row) error { return r.Scan(&raw) }, `select '\x00ff'::bytea`))
	require.NoError(t, c.Row(t.Context(), []any{&list, &b, &at}, `select '{}'::int8[], ''::bytea, timestamptz '0001-01-01 00:00:00+00 BC'`))
	require.Equal(t, []any{[]int{}, []byte{}, -1}, []any{list, b, at.Compare(time.Time{})})
	require.NoError(t, c.Row(t.Context(), []any{&list, &b}, `select null::int8[], null::bytea`))
	require.Nil(t, list)
	require.Nil(t, b)
}

// Every element of an array arrives as it was passed, whatever is in it.
func TestArrays(t *testing.T) {
	t.Parallel()
	c := connect(t)
	texts := []string{"", "NULL", `"`, `\`, `{a,b}`, "line\nline", " ", "é"}
	got := []string(nil)
	each := func(r wire.Row) error {
		var s string
		err := r.Scan(&s)
		got = append(got, s)
		return err
	}
	require.NoError(t, c.Rows(t.Context(), each, `select unnest($1::text[])`, texts))
	require.Equal(t, texts, got)

	var same bool
	require.NoError(t, c.Row(t.Context(), []any{&same}, `select $1::bytea[] = array['\x', '\x00ff']::bytea[] and $2::uuid[] = array['01000000-0000-0000-0000-000000000009']::uuid[]
		and $3::int2[] = '{-1,2}' and $4::int8[] = '{}'`, [][]byte{{}, {0, 255}}, [][16]byte{{1, 15: 9}}, []int16{-1, 2}, []int64{}))
	require.True(t, same)
	require.ErrorContains(t, c.Exec(t.Context(), `select $1`, []time.Time{{}}), "no argument can be")
	require.ErrorContains(t, c.Exec(t.Context(), `select $1`, struct{}{}), "no argument can be")
}

// A server whose functions have other results causes an error that names the column.
func TestUnexpectedAnswers(t *testing.T) {
	t.Parallel()
	c := connect(t)
	for sql, dest := range map[string]any{
		`select null::text as x`:              new(string),
		`select 1 as x`:                       new(string),
		`select '1'::text as x`:               new(int),
		`select 70000 as x`:                   new(int16),
		`select 't'::text as x`:               new(bool),
		`select 1.5::numeric as x`:            new(float64),
		`select 'infinity'::timestamptz as x`: new(time.Time),
		`select date '2026-01-01' as x`:       new(time.Time),
		`select 'a'::text as x`:               new([]byte),
		`select '{{1},{2}}'::int[] as x`:      new([]int),
		`select '{1,null}'::int[] as x`:       new([]int),
		`select '{a}'::text[] as x`:           new([]int),
		`select gen_random_uuid() as x`:       new([8]byte),
		`select '{"a":1}'::jsonb as x`:        new(string),
		`select 5 as x, 6 as y`:               new(int),
	} {
		var answer *wire.AnswerError
		require.ErrorAs(t, c.Row(t.Context(), []any{dest}, sql), &answer, sql)
	}
	require.ErrorIs(t, c.Row(t.Context(), []any{new(int)}, `select 1 where false`), wire.ErrNoRow)
	// The connection is usable after all of these.
	var n int
	require.NoError(t, c.Row(t.Context(), []any{&n}, `select n from (values (7), (8)) v(n)`))
	require.Equal(t, 7, n)
}

func TestIdentifiersAreQuoted(t *testing.T) {
	t.Parallel()
	c := connect(t)
	for _, name := range []string{`a`, `A b`, `x"; drop table y; --`, `é`} {
		var s string
		require.NoError(t, c.Row(t.Context(), []any{&s}, `select 'v'::text as `+wire.Identifier(name)+` order by `+wire.Identifier(name)))
	}
	require.Equal(t, `"a""b"`, wire.Identifier("a\"\x00b"))
}

// Connections of a pool end when they are idle, are replaced when the server ended them, and are
// shared by more callers than there are connections.
func TestPool(t *testing.T) {
	t.Parallel()
	d := pgtest.Empty(t)
	c := config(t, d)
	c.RuntimeParams["application_name"] = "pool"
	p, err := wire.NewPool(func(ctx context.Context) (*wire.Conn, error) { return wire.Connect(ctx, c) }, 2, 100*time.Millisecond)
	require.NoError(t, err)
	defer p.Close()
	ask := func() error {
		return p.Do(t.Context(), func(c *wire.Conn) error { return c.Exec(t.Context(), `select pg_sleep(0.01)`) })
	}
	open := func() int64 {
		return pgtest.Value[int64](t, d, `select count(*) from pg_stat_activity where application_name = 'pool'`)
	}
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			for range 5 {
				if err := ask(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	require.LessOrEqual(t, open(), int64(2))
	require.Eventually(t, func() bool { return open() == 0 }, 30*time.Second, 10*time.Millisecond)

	// A transaction that was left open ends, and isn't passed to the next caller.
	require.NoError(t, p.Do(t.Context(), func(c *wire.Conn) error { return c.Run(t.Context(), `begin`) }))
	require.NoError(t, p.Do(t.Context(), func(c *wire.Conn) error {
		require.False(t, c.InTransaction())
		return nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Do(ctx, func(*wire.Conn) error { return nil }), context.Canceled)
}

// A connection that the server ended while it was idle is replaced.
func TestPoolReplacesDeadConnections(t *testing.T) {
	t.Parallel()
	d := pgtest.Empty(t)
	c := config(t, d)
	c.RuntimeParams["application_name"] = "pool"
	p, err := wire.NewPool(func(ctx context.Context) (*wire.Conn, error) { return wire.Connect(ctx, c) }, 1, time.Minute)
	require.NoError(t, err)
	defer p.Close()
	var first, second int
	pid := func(n *int) error {
		return p.Do(t.Context(), func(c *wire.Conn) error { return c.Row(t.Context(), []any{n}, `select pg_backend_pid()`) })
	}
	require.NoError(t, pid(&first))
	d.Exec(t, `select pg_terminate_backend($1)`, first)
	require.Eventually(t, func() bool { return pid(&second) == nil }, 30*time.Second, 100*time.Millisecond)
	require.NotEqual(t, first, second)
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	c := connect(t)
	require.NoError(t, c.Exec(t.Context(), `listen x`))
	require.NoError(t, c.Run(t.Context(), `notify x, 'one'; notify x, 'two'`))
	for _, want := range []string{"one", "two"} {
		got, err := c.Notification(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := c.Notification(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A large answer is passed on while it arrives, and a caller can stop.
func TestRowsStop(t *testing.T) {
	t.Parallel()
	c := connect(t)
	stop := context.DeadlineExceeded
	n := 0
	require.ErrorIs(t, c.Rows(t.Context(), func(wire.Row) error {
		n++
		return stop
	}, `select repeat('x', 1000) from generate_series(1, 10000)`), stop)
	require.Equal(t, 1, n)
	var s string
	require.NoError(t, c.Row(t.Context(), []any{&s}, `select $1::text`, strings.Repeat("x", 1<<20)))
	require.Len(t, s, 1<<20)
}
