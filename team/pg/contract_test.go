package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// world is a database as the suite of stories sees it.
type world struct {
	*pgtest.Database
	admin *pg.Store // with the role xcsh_owner
	port  int       // of the server, or of a pooler in front of it
}

func newWorld(t *testing.T, d *pgtest.Database, port int) *world {
	t.Helper()
	return &world{d, open(t, d.ConnAt(port, d.Superuser())), port}
}

// open returns a store that is closed after the test.
func open(t testing.TB, conn string) *pg.Store {
	t.Helper()
	s, err := pg.Open(pg.Config{Conn: conn, Deaf: waitTime})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func (w *world) Member(t testing.TB, user, team string, level int) {
	t.Helper()
	role := w.Role(t, user, true)
	require.NoError(t, w.admin.AddUser(t.Context(), role, user))
	require.NoError(t, w.admin.AddTeam(t.Context(), team))
	require.NoError(t, w.admin.Grant(t.Context(), team, role, pg.Level(level)))
}

func (w *world) Leave(t testing.TB, user string) {
	t.Helper()
	w.Exec(t, `update xcsh.person set gone = now() where role = $1`, w.Role(t, user, true))
}

func (w *world) Connect(t testing.TB, user string) teamtest.Login {
	t.Helper()
	return open(t, w.ConnAt(w.port, w.Role(t, user, true)))
}

// Advance moves all times of the store into the past, because the clock of the server can't be moved.
func (w *world) Advance(t testing.TB, d time.Duration) {
	t.Helper()
	w.Exec(t, `update xcsh.tip set until = until - $1::interval, heard_until = heard_until - $1::interval, listed = listed - $1::interval`, d)
	w.Exec(t, `update xcsh.session set modified = modified - $1::interval, deleted = deleted - $1::interval`, d)
}

func TestPostgreSQLKeepsTheContract(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	teamtest.Contract(t, newWorld(t, d, d.Port()))
}
