package team_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// big says whether the numbers are those of bench/README.md. Otherwise the limits are wide enough for any busy machine.
func big() bool { return os.Getenv("XCSH_BENCH_BIG") != "" }

// size returns the number for every run of the tests, or the big one.
func size(small, large int) int {
	if big() {
		return large
	}
	return small
}

// bench is a store with a project of a user, and a table of the superuser that has no functions.
type bench struct {
	*testing.T
	d       *pgtest.Database
	conn    string
	store   *pg.Store
	project int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	racetest.Large(t)
	d := pgtest.Start(t).Database(t)
	d.Exec(t, `create table raw (sid uuid, off bigint, bytes bytea, primary key (sid, off))`)
	admin := open(t, d.Conn(d.Superuser()))
	role := d.Role(t, "ann", true)
	require.NoError(t, admin.AddUser(t.Context(), role, "Ann"))
	require.NoError(t, admin.AddTeam(t.Context(), "core"))
	require.NoError(t, admin.Grant(t.Context(), "core", role, pg.Level(2)))
	b := &bench{T: t, d: d, conn: d.Conn(role), store: open(t, d.Conn(role))}
	b.hello(b.store)
	p, err := b.store.Project(t.Context(), "core", "name:bench", "Bench")
	require.NoError(t, err)
	b.project = p.ID
	return b
}

func open(t *testing.T, conn string) *pg.Store {
	t.Helper()
	s, err := pg.Open(pg.Config{Conn: conn})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func (b *bench) hello(s *pg.Store) {
	b.Helper()
	_, err := s.Hello(b.Context(), team.Device{ID: team.NewDeviceID(), Label: "bench"})
	require.NoError(b, err)
}

// session creates a session without lines.
func (b *bench) session(s *pg.Store) *body {
	b.Helper()
	sid := team.NewSID()
	_, err := s.Open(b.Context(), team.Opening{Project: b.project, SID: sid, HeaderID: sid.String(), FileName: "x.jsonl", Head: []byte("head\n"), Visible: team.Shared})
	require.NoError(b, err)
	return &body{store: s, sid: sid, tip: team.Tip{Gen: 1, Sum: team.EmptySum}, hash: sha256.New()}
}

// body is a session that grows.
type body struct {
	store *pg.Store
	sid   team.SID
	tip   team.Tip
	hash  hash.Hash
}

// append adds bytes.
func (b *body) append(ctx context.Context, text []byte) error {
	_, _ = b.hash.Write(text) // never fails
	a := team.Append{SID: b.sid, Gen: 1, Len: b.tip.Len, Sum: b.tip.Sum, Fence: b.tip.Fence, Bytes: text, New: team.Sum(b.hash.Sum(nil))}
	tip, err := b.store.Append(ctx, a)
	if err == nil && tip.Code != team.OK {
		err = fmt.Errorf("the answer is %s", tip.Code)
	}
	b.tip = tip
	return err
}

// took returns the time of f.
func (b *bench) took(f func() error) time.Duration {
	b.Helper()
	start := time.Now()
	require.NoError(b, f())
	return time.Since(start)
}

// median sorts the times.
func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// row prints a row of bench/README.md, and requires the limit of the ratio: that of the specification with the big numbers, and five times
// as much otherwise.
func (b *bench) row(what string, ours, base time.Duration, baseline string, limit float64) {
	b.Helper()
	ratio := float64(ours) / float64(base)
	b.Logf("| %s | %v | %s %v | %.2f | %.2f |", what, ours.Round(10*time.Microsecond), baseline, base.Round(10*time.Microsecond), ratio, limit)
	if !big() {
		limit *= 5
	}
	require.LessOrEqual(b, ratio, limit, what)
}

// line is an appended line of 2 KB.
var line = []byte(strings.Repeat("x", 2047) + "\n")

const insert = `insert into raw values ($1, $2, $3)`

// An append of one writer, against an INSERT of the same bytes without a check. They alternate.
func TestOneWriter(t *testing.T) {
	b := newBench(t)
	conn := b.d.Connect(t, b.d.Superuser())
	s, raw := b.session(b.store), team.NewUUID()
	var ours, base []time.Duration
	for i := range size(150, 3000) {
		ours = append(ours, b.took(func() error { return s.append(t.Context(), line) }))
		base = append(base, b.took(func() error {
			_, err := conn.Exec(t.Context(), insert, [16]byte(raw), i, line)
			return err
		}))
	}
	b.row("append, one writer, median", median(ours), median(base), "INSERT", 1.6)
}

// writers returns what each of n writers does for its i-th line: an append to a session of its own, and an INSERT of the same bytes.
func (b *bench) writers(n int) (appends, inserts []func(i int) error) {
	b.Helper()
	for range n {
		store, conn, raw := open(b.T, b.conn), b.d.Connect(b, b.d.Superuser()), team.NewUUID()
		b.hello(store)
		s := b.session(store)
		appends = append(appends, func(int) error { return s.append(b.Context(), line) })
		inserts = append(inserts, func(i int) error {
			_, err := conn.Exec(b.Context(), insert, [16]byte(raw), i, line)
			return err
		})
	}
	return appends, inserts
}

// Many writers without a pause, against as many that INSERT.
func TestManyWriters(t *testing.T) {
	b := newBench(t)
	writers, each := size(8, 50), size(20, 200)
	appends, inserts := b.writers(writers)
	all := func(do []func(i int) error) time.Duration {
		return b.took(func() (first error) {
			errs := make(chan error, writers)
			var running sync.WaitGroup
			for _, f := range do {
				running.Go(func() {
					for i := range each {
						if err := f(i); err != nil {
							errs <- err
							return
						}
					}
				})
			}
			running.Wait()
			close(errs)
			return <-errs
		})
	}
	base := all(inserts)
	b.row(fmt.Sprintf("%d writers without a pause, %d appends", writers, writers*each), all(appends), base, "INSERT", 2.5)
}

// A large session is sent, pulled whole and from its end.
func TestALargeSession(t *testing.T) {
	b := newBench(t)
	total := size(8, 100) << 20
	piece := []byte(strings.Repeat(string(line), 512)) // 1 MiB, a batch
	s := b.session(b.store)
	conn, raw := b.d.Connect(t, b.d.Superuser()), team.NewUUID()
	base := b.took(func() (err error) {
		for i := range total / len(piece) {
			if err == nil {
				_, err = conn.Exec(t.Context(), insert, [16]byte(raw), i, piece)
			}
		}
		return err
	})
	send := b.took(func() (err error) {
		for range total / len(piece) {
			if err == nil {
				err = s.append(t.Context(), piece)
			}
		}
		return err
	})
	b.row(fmt.Sprintf("send %d MB", total>>20), send, base, "INSERT", 4)

	out := b.took(func() error {
		_, err := conn.PgConn().CopyTo(t.Context(), io.Discard, `copy (select bytes from xcsh.segment order by off) to stdout (format binary)`)
		return err
	})
	got, n := sha256.New(), 0
	pull := b.took(func() error {
		for n < total {
			before := n
			err := b.store.Read(t.Context(), s.sid, 1, int64(n), 4<<20, func(seg team.Segment) error {
				n += len(seg.Bytes)
				_, err := got.Write(seg.Bytes)
				return err
			})
			if err != nil || n == before {
				return fmt.Errorf("%d bytes: %w", n, err)
			}
		}
		return nil
	})
	require.Equal(t, s.tip.Sum, team.Sum(got.Sum(nil)))
	b.row(fmt.Sprintf("pull %d MB", total>>20), pull, out, "COPY", 2)
	newest := b.took(func() error {
		return b.store.Back(t.Context(), s.sid, 1, int64(total), 2<<20, func(team.Segment) error { return nil })
	})
	b.row("the newest 2 MB", newest, pull, "the whole pull", 1.0/float64(size(2, 20)))
}

// A page of a list, no changes, and a search for a rare word, against one round trip.
func TestAskingTheStore(t *testing.T) {
	b := newBench(t)
	for i := range size(100, 5000) {
		s := b.session(b.store)
		require.NoError(t, s.append(t.Context(), line))
		word := "common"
		if i == 7 {
			word = "rareword"
		}
		require.NoError(t, b.store.Said(t.Context(), s.sid, 0, s.tip.Len, []team.Text{{Off: 0, Kind: team.PromptText, Entry: "e", Body: word + strings.Repeat(" filler", 200)}}))
	}
	b.d.Exec(t, `analyze`)
	_, cursor, err := b.store.Changes(t.Context(), b.project, 0)
	require.NoError(t, err)
	ask := func(f func() error) time.Duration {
		var times []time.Duration
		for range 20 {
			times = append(times, b.took(f))
		}
		return median(times)
	}
	trip := ask(func() error { _, err := b.store.Tip(t.Context(), team.NewSID()); return err })
	page := ask(func() error {
		infos, err := b.store.List(t.Context(), team.ListQuery{Project: b.project, Limit: 50})
		require.Len(t, infos, 50)
		return err
	})
	b.row("a page of 50 of a list", page, trip, "a round trip", 60)
	b.row("changes, none", ask(func() error { _, _, err := b.store.Changes(t.Context(), b.project, cursor); return err }), trip, "a round trip", 10)
	b.row("search, a rare word", ask(func() error {
		hits, err := b.store.Search(t.Context(), []int{b.project}, "rareword", 20)
		require.Len(t, hits, 1)
		return err
	}), trip, "a round trip", 200)
}

// From the begin of an append until a listener is woken, against the append alone.
func TestNotifications(t *testing.T) {
	b := newBench(t)
	listener := open(t, b.conn)
	b.hello(listener)
	s := b.session(b.store)
	require.NoError(t, listener.Follow(t.Context(), []team.SID{s.sid}))
	woken := make(chan team.SID, 100)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = listener.Ear(ctx, func(sid team.SID) { woken <- sid }) }) // it ends with ctx
	defer running.Wait()
	defer stop()
	require.Eventually(t, func() bool { // it listens
		b.store.Tell(t.Context(), s.sid, 0)
		return len(woken) > 0
	}, time.Minute, 20*time.Millisecond)
	for len(woken) > 0 {
		<-woken
	}
	var alone, heard []time.Duration
	for range size(20, 300) {
		var only time.Duration
		total := b.took(func() error {
			only = b.took(func() error { return s.append(t.Context(), line) })
			b.store.Tell(t.Context(), s.sid, s.tip.Len)
			require.Equal(t, s.sid, <-woken)
			return nil
		})
		alone, heard = append(alone, only), append(heard, total)
	}
	b.row("from an append to a woken listener, median", median(heard), median(alone), "append", 10)
}
