package pg_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
	pulling "github.com/xcsh-ls/xcsh-ls/team/pull"
)

// A listener in a long transaction lets the queue of notifications become full, in which all databases of a server wait. A server that cannot
// have a small queue (PostgreSQL 16 and older) needs 8 GB and minutes, for which XCSH_TEAM_QUEUE must be set. Then followers are not notified;
// lines arrive in the store, and a follower asks for them.
// Proves: TM-43
func TestAFullQueueOfNotifications(t *testing.T) {
	t.Parallel()
	small := pgtest.Value[int](t, pgtest.Empty(t), `select current_setting('server_version_num')::int`) >= 170000
	if !small && os.Getenv("XCSH_TEAM_QUEUE") == "" {
		t.Skip("this server's queue has 8 GB; XCSH_TEAM_QUEUE=1 fills it")
	}
	cluster := pgtest.Start(t)
	d := cluster.Database(t)
	if small {
		d.Exec(t, `alter system set max_notify_queue_pages = 64`)
		cluster.Kill()
		require.NoError(t, cluster.Restart())
	}
	w := newWorld(t, d, d.Port())
	ann, kim := login(t, w, "ann"), login(t, w, "kim")
	p, err := ann.Project(t.Context(), "core", "name:web", "web")
	require.NoError(t, err)
	sid := team.NewSID()
	_, err = ann.Open(t.Context(), team.Opening{
		Project: p.ID, SID: sid, HeaderID: "0123456789abcdef", FileName: "s.jsonl", Visible: team.Shared, Head: []byte(st.Header("0123456789abcdef", ".") + "\n"),
	})
	require.NoError(t, err)
	fillQueue(t, d)

	var body []byte
	send := func() {
		t.Helper()
		line := []byte(st.User("aaaaaaaa", "", "more") + "\n")
		tip, err := ann.Tip(t.Context(), sid)
		require.NoError(t, err)
		body = append(body, line...)
		tip, err = ann.Append(t.Context(), team.Append{SID: sid, Gen: tip.Gen, Len: tip.Len, Sum: tip.Sum, Fence: tip.Fence, Bytes: line, New: team.SumOf(body)})
		require.NoError(t, err)
		require.Equal(t, team.OK, tip.Code)
		ann.Tell(t.Context(), sid, tip.Len)
	}
	send()
	require.Error(t, ann.Ear(t.Context(), func(team.SID) {}), "a follower knows that it hears nothing")
	ctx, stop := context.WithTimeout(t.Context(), waitTime)
	defer stop()
	var got []byte
	err = pulling.NewFollowing(newPuller(afero.NewMemMapFs(), kim), false).Follow(ctx, sid, func(b []byte) {
		if got = append(got, b...); !bytes.Equal(got, body) {
			return
		}
		if bytes.Count(got, []byte("\n")) == 3 {
			stop()
			return
		}
		send()
	})
	requireKind(t, fault.Cancelled, err)
	require.Equal(t, string(body), string(got))
}

// fillQueue fills the queue of notifications of a server.
func fillQueue(t *testing.T, d *pgtest.Database) {
	t.Helper()
	listener := d.Connect(t, d.Superuser())
	for _, sql := range []string{"listen filling", "begin", "select 1"} {
		_, err := listener.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	filler := d.Connect(t, d.Superuser())
	for {
		_, err := filler.Exec(t.Context(), `select pg_notify('filling', lpad(i::text, 7900, 'x')) from generate_series(1, 500) i`)
		if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "54000" {
			break
		}
		require.NoError(t, err)
	}
	// What is left has room for a short notification.
	for {
		_, err := filler.Exec(t.Context(), `select pg_notify('filling', lpad('x', 7900, 'x'))`)
		if err != nil {
			break
		}
	}
}
