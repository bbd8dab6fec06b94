package pg_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// requireKind requires an error of a kind, with a sentence that contains all parts.
func requireKind(t *testing.T, kind fault.Kind, err error, parts ...string) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, kind, fault.KindOf(err), err.Error())
	for _, part := range parts {
		require.Contains(t, err.Error(), part)
	}
}

func TestInitCreatesTheSchemaOnce(t *testing.T) {
	t.Parallel()
	d := pgtest.Empty(t)
	owner := pg.Config{Conn: d.Conn(d.Superuser())}
	for _, n := range []int{0, -1, pg.MaxPartitions + 1} {
		requireKind(t, fault.InvalidArgument, pg.Init(t.Context(), owner, n))
	}
	requireKind(t, fault.Denied, pg.Init(t.Context(), pg.Config{Conn: d.Conn(d.Role(t, "ann", false))}, 2))
	require.False(t, pgtest.Value[bool](t, d, `select to_regnamespace('xcsh') is not null`), "a failed init leaves nothing")
	_, err := open(t, owner.Conn).Hello(t.Context(), team.Device{})
	requireKind(t, fault.Refused, err, "xcsh-ls team init")

	require.NoError(t, pg.Init(t.Context(), owner, 3))
	require.Equal(t, 3, pgtest.Value[int](t, d, `select count(*)::int from pg_class where relname ~ '^segment_\d+$'`))
	require.Equal(t, 3, pgtest.Value[int](t, d, `select partitions from xcsh.meta`))
	requireKind(t, fault.Conflict, pg.Init(t.Context(), owner, 3), "--upgrade")

	found, all, err := pg.Doctor(t.Context(), owner)
	require.NoError(t, err)
	require.True(t, all)
	require.Empty(t, found)
}

// The printed schema, in psql, makes the same store as Init.
func TestThePrintedSchemaIsTheSame(t *testing.T) {
	t.Parallel()
	byInit, byPsql := pgtest.Empty(t), pgtest.Empty(t)
	require.NoError(t, pg.Init(t.Context(), pg.Config{Conn: byInit.Conn(byInit.Superuser())}, pg.DefaultPartitions))
	byPsql.Psql(t, pg.Schema())
	const objects = `select string_agg(x, e'\n' order by x) from (
		select p.oid::regprocedure || ' ' || p.prosrc || coalesce(p.proacl::text, '') || p.prosecdef as x from pg_proc p where pronamespace = 'xcsh'::regnamespace
		union select relname || relkind::text || relrowsecurity || relforcerowsecurity || coalesce(relacl::text, '') from pg_class where relnamespace = 'xcsh'::regnamespace
		union select partitions::text from xcsh.meta) x`
	require.Equal(t, pgtest.Value[string](t, byInit, objects), pgtest.Value[string](t, byPsql, objects))
}

// Proves: TM-37, TM-39
func TestAnUpgradeRunsEachStepOnce(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	owner := pg.Config{Conn: d.Conn(d.Superuser())}
	from, to, err := pg.Upgrade(t.Context(), owner)
	require.NoError(t, err)
	require.Equal(t, []int{1, 1}, []int{from, to})

	steps := []pg.Step{
		{SQL: `create table once (id int); create function new_v1() returns int language sql as $$ select 1 $$`},
		{SQL: `alter table xcsh.session add column extra int`, Alone: []string{`create index concurrently session_extra on session (extra)`}},
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			_, to, err := pg.UpgradeWith(t.Context(), owner, steps...)
			if assert.NoError(t, err) {
				assert.Equal(t, 3, to)
			}
		})
	}
	both.Wait()
	require.Equal(t, 3, pgtest.Value[int](t, d, `select version from xcsh.meta`))
	require.Equal(t, "xcsh_owner", pgtest.Value[string](t, d, `select tableowner from pg_tables where tablename = 'once'`))
	member := d.Connect(t, d.Role(t, "ann", true))
	var one int
	require.NoError(t, member.QueryRow(t.Context(), `select xcsh.new_v1()`).Scan(&one), "members can call new functions")
	_, err = d.Connect(t, d.Role(t, "stranger", false)).Exec(t.Context(), `select xcsh.new_v1()`)
	require.ErrorContains(t, err, "permission denied")

	_, _, err = pg.Upgrade(t.Context(), owner)
	requireKind(t, fault.Refused, err, "version 3")
	_, _, err = pg.UpgradeWith(t.Context(), pg.Config{Conn: d.Conn(d.Role(t, "ann", true))}, steps...)
	requireKind(t, fault.Denied, err)
}

func TestAFailedStepLeavesTheStepsBefore(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	owner := pg.Config{Conn: d.Conn(d.Superuser())}
	_, to, err := pg.UpgradeWith(t.Context(), owner,
		pg.Step{SQL: `create table xcsh.first (id int)`},
		pg.Step{SQL: `create table xcsh.second (id int); select 1/0`})
	require.Error(t, err)
	require.Equal(t, 2, to)
	require.Equal(t, 2, pgtest.Value[int](t, d, `select version from xcsh.meta`))
	require.True(t, pgtest.Value[bool](t, d, `select to_regclass('xcsh.first') is not null and to_regclass('xcsh.second') is null`))
}

func TestAnUpgradeDoesNotWaitForALongTransaction(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	tx, err := d.Connect(t, d.Superuser()).Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `select count(*) from xcsh.session`)
	require.NoError(t, err)
	_, to, err := pg.UpgradeWith(t.Context(), pg.Config{Conn: d.Conn(d.Superuser())}, pg.Step{SQL: `alter table xcsh.session add column extra int`})
	requireKind(t, fault.Busy, err, "long transaction")
	require.Equal(t, 1, to)
	require.NoError(t, tx.Rollback(t.Context()))
}

// Proves: TM-37, TM-38
func TestAStoreOfAnotherProtocolIsRefused(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	w := newWorld(t, d, d.Port())
	w.Member(t, "ann", "core", 2)
	d.Exec(t, `update xcsh.meta set speaks = '{3,4}'`)
	_, err := w.Connect(t, "ann").Hello(t.Context(), team.Device{ID: team.NewDeviceID()})
	requireKind(t, fault.Refused, err, "The team store speaks 3, 4; this xcsh-ls speaks 1.", "Update it")
	d.Exec(t, `update xcsh.meta set speaks = '{1,2}'`)
	_, err = w.Connect(t, "ann").Hello(t.Context(), team.Device{ID: team.NewDeviceID()})
	require.NoError(t, err)
}

// Proves: TM-48
func TestDoctorFindsProblems(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	w := newWorld(t, d, d.Port())
	w.Member(t, "ann", "core", 2)
	pushLines(t, w, "ann", "one\n", "two\n")
	owner := pg.Config{Conn: d.Conn(d.Superuser())}
	for _, c := range []struct{ problem, remedy, want string }{
		{
			`grant execute on function xcsh.tip_of to public`, `revoke execute on function xcsh.tip_of from public`,
			"tip_of(uuid,text) can be called by every role",
		},
		{
			`alter function xcsh.tip_v1 reset search_path`, `alter function xcsh.tip_v1 set search_path = xcsh, pg_temp`,
			"tip_v1(uuid) runs as the owner of the tables",
		},
		{
			`grant select on xcsh.segment to xcsh_member`, `revoke select on xcsh.segment from xcsh_member`,
			"xcsh_member can use the table segment",
		},
		{
			`grant create on schema xcsh to xcsh_member`, `revoke create on schema xcsh from xcsh_member`,
			"Members can create objects",
		},
		{
			`alter table xcsh.session no force row level security`, `alter table xcsh.session force row level security`,
			"table session is off",
		},
		{`alter table xcsh.tip disable row level security`, `alter table xcsh.tip enable row level security`, "table tip is off"},
		{`update xcsh.tip set len = len + 1`, `update xcsh.tip set len = len - 1`, "ends at byte 9,"},
		{
			`with a as (update xcsh.segment set off = 5 where off = 4) update xcsh.tip set len = len + 1`,
			`with a as (update xcsh.segment set off = 4 where off = 5) update xcsh.tip set len = len - 1`, "at byte 5.",
		},
		{`update xcsh.meta set version = 0`, `update xcsh.meta set version = 1`, "version 0"},
	} {
		d.Exec(t, c.problem)
		found, all, err := pg.Doctor(t.Context(), owner)
		require.NoError(t, err)
		require.True(t, all)
		require.Len(t, found, 1, c.problem)
		require.Contains(t, found[0].Detail, c.want)
		require.Regexp(t, `[.]$|--upgrade$`, found[0].Detail)
		d.Exec(t, c.remedy)
		found, _, err = pg.Doctor(t.Context(), owner)
		require.NoError(t, err)
		require.Empty(t, found, c.remedy)
	}
}

func TestDoctorOfAMember(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, all, err := pg.Doctor(t.Context(), pg.Config{Conn: d.Conn(d.Role(t, "ann", true))})
	require.NoError(t, err)
	require.False(t, all, "a member can't read the bodies")
	epoch, err := pg.Restored(t.Context(), pg.Config{Conn: d.Conn(d.Superuser())})
	require.NoError(t, err)
	require.Equal(t, 2, epoch)
	_, err = pg.Restored(t.Context(), pg.Config{Conn: d.Conn(d.Role(t, "ann", true))})
	requireKind(t, fault.Denied, err)
}

// pushLines creates a session of a user and appends lines, each by itself.
func pushLines(t *testing.T, w *world, user string, lines ...string) team.SID {
	t.Helper()
	s := w.Connect(t, user)
	_, err := s.Hello(t.Context(), team.Device{ID: team.NewDeviceID()})
	require.NoError(t, err)
	p, err := s.Project(t.Context(), "core", "name:web", "Web")
	require.NoError(t, err)
	sid := team.NewSID()
	_, err = s.Open(t.Context(), team.Opening{Project: p.ID, SID: sid, HeaderID: sid.String(), FileName: "x.jsonl", Visible: team.Shared})
	require.NoError(t, err)
	body := strings.Builder{}
	tip, err := s.Tip(t.Context(), sid)
	for _, line := range lines {
		require.NoError(t, err)
		body.WriteString(line)
		tip, err = s.Append(t.Context(), team.Append{
			SID: sid, Gen: 1, Len: tip.Len, Sum: tip.Sum, Fence: tip.Fence, Bytes: []byte(line), New: team.SumOf([]byte(body.String())),
		})
		require.Equal(t, team.OK, tip.Code)
	}
	require.NoError(t, err)
	return sid
}
