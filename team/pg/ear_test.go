package pg_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

func TestAnEarIgnoresOtherPayloadsAndEndsWithItsConnection(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	w := newWorld(t, d, d.Port())
	w.Member(t, "ann", "core", 2)
	s, sid := w.Connect(t, "ann"), team.NewSID()
	woken, ended := make(chan team.SID, 100), make(chan error, 1)
	go func() { ended <- s.Ear(t.Context(), func(sid team.SID) { woken <- sid }) }()
	listening := func() bool {
		return pgtest.Value[bool](t, d, `select exists (select from pg_stat_activity where query ilike 'listen%' and datname = current_database())`)
	}
	require.Eventually(t, listening, waitTime, pollTime)
	for _, payload := range []string{"", "garbage", sid.String()[1:], "'; drop table x", "\u00e9"} {
		d.Exec(t, `select pg_notify('xcsh', $1)`, payload)
	}
	s.Tell(t.Context(), sid, 5)
	require.Equal(t, sid, <-woken)
	require.Empty(t, woken)
	d.Exec(t, `select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%' and datname = current_database()`)
	requireKind(t, fault.Offline, <-ended)
}
