//go:build !noteam

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

func TestTeamInitAndGrant(t *testing.T) {
	t.Parallel()
	d := pgtest.Empty(t)
	ann, kim := d.Role(t, "ann", false), d.Role(t, "kim", false)
	owner := newHome(t, d, d.Superuser())

	code, _, stderr := owner.run("team", "doctor")
	require.Equal(t, 1, code, stderr)
	for _, partitions := range []string{"0", "1000", "x"} {
		code, _, stderr = owner.run("team", "init", "--partitions", partitions)
		require.Equal(t, 2, code, stderr)
	}
	require.Contains(t, owner.says("team", "init", "--partitions", "2"), readsAll)
	code, _, stderr = owner.run("team", "init")
	require.Equal(t, []any{1, "The database has a schema xcsh already. Nothing was changed; to upgrade it, run: xcsh-ls team init --upgrade\n"}, []any{code, stderr})
	require.Equal(t, "The team store is up to date (version 1).\n", owner.says("team", "init", "--upgrade"))
	require.Equal(t, "No problems found.\n", owner.says("team", "doctor"))

	code, _, stderr = owner.run("team", "grant", ann)
	require.Equal(t, []any{2, "No team: pass --team NAME.\n"}, []any{code, stderr})
	require.Equal(t, ann+" administers the team core.\n", owner.says("team", "grant", ann, "--team", "core", "--admin", "--name", "Ann"))
	require.Equal(t, kim+" can read and write the sessions of the team core.\n", owner.says("team", "grant", kim, "--team", "core"))

	// An administrator of a team changes the levels in it, but neither admits roles nor creates teams.
	other := newHome(t, d, ann)
	code, stdout, stderr := other.run("team", "grant", kim, "--team", "core", "--read")
	require.Zero(t, code, stderr)
	require.Equal(t, kim+" can read the sessions of the team core.\n", stdout)
	require.Contains(t, stderr, "GRANT xcsh_member TO "+kim)
	code, _, stderr = other.run("team", "grant", kim, "--team", "others")
	require.Equal(t, 1, code, stderr)
	level := `select coalesce(max(level), 0)::int from xcsh.member join xcsh.person using (person_id) where role = $1`
	require.Equal(t, int(pg.Reader), pgtest.Value[int](t, d, level, kim))
	require.Equal(t, kim+" is no member of the team core.\n", other.says("team", "grant", kim, "--team", "core", "--none"))
	require.Zero(t, pgtest.Value[int](t, d, level, kim))

	// Users without rights change nothing.
	stranger := newHome(t, d, kim)
	for _, args := range [][]string{{"init", "--upgrade"}, {"grant", kim, "--team", "core", "--admin"}} {
		code, _, stderr = stranger.run(append([]string{"team"}, args...)...)
		require.Equal(t, 1, code, stderr)
	}
	require.Zero(t, pgtest.Value[int](t, d, level, kim))
}

// The printed schema is complete, and has the number of partitions.
func TestTeamInitPrints(t *testing.T) {
	t.Parallel()
	d := pgtest.Empty(t)
	h := newHome(t, d, "nobody")
	h.env = append(h.env, "XCSH_TEAM_URL=") // it connects to nothing
	d.Psql(t, h.says("team", "init", "--print", "--partitions", "3"))
	require.Equal(t, 3, pgtest.Value[int](t, d, `select partitions from xcsh.meta`))
}

func TestTeamUpkeepOfAnEmptyStore(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	owner := newHome(t, d, d.Superuser())
	ann := d.Role(t, "ann", false)
	owner.says("team", "grant", ann, "--team", "core")
	h := newHome(t, d, ann)
	require.Equal(t, "0 sessions destroyed.\n", h.says("team", "purge"))
	code, _, stderr := h.run("team", "purge", "--now")
	require.Equal(t, 2, code, stderr)
	require.Equal(t, "0 sessions compacted into 0 pieces.\n", h.says("team", "maintain"))
}
