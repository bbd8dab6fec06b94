package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
	"github.com/xcsh-ls/xcsh-ls/team/teamtest"
)

// pgbouncer in transaction mode gives each statement another connection to the server.
// Proves: TM-42
func TestAPoolerInTransactionMode(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	w := newWorld(t, d, pgtest.Pooler(t, d))
	teamtest.Contract(t, w, "a session is created once", "each difference has its code", "of eight different appends at once one wins",
		"bytes stay as they are", "a fork shares a beginning", "a generation replaces the body at once", "a list shows the writer", "texts are found and replaced")
	w.Member(t, "ann", "core", 2)
	s, err := pg.Open(pg.Config{Conn: d.ConnAt(w.port, d.Role(t, "ann", true))})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	requireKind(t, fault.Offline, s.Ear(t.Context(), func(team.SID) {}), "pooler in transaction mode")
}
