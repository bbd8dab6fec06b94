package pg_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/leaktest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// begin begins a transaction of a user.
func (b *broken) begin(t *testing.T, user string) pgx.Tx {
	t.Helper()
	tx, err := b.Database.Connect(t, b.Role(t, user, true)).Begin(t.Context())
	require.NoError(t, err)
	return tx
}

// waits returns when a statement of the database waits for a lock.
func (b *broken) waits(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		return pgtest.Value[bool](t, b.Database, `select exists (select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database())`)
	}, waitTime, pollTime)
}

// A cursor that was taken while a change was not committed yet doesn't skip it, although a later change is
// before the cursor.
func TestChangesOfOpenTransactionsAreNotMissed(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	late := team.NewSID()
	tx := b.begin(t, "ann")
	_, err := tx.Exec(t.Context(), `select xcsh.open_v1($1, $2, 'late', 0::smallint, 'x.jsonl', 'head', now(), 1::smallint, 'title')`, b.project, [16]byte(late.UUID))
	require.NoError(t, err)
	early := b.session(t, "one\n")

	infos, cursor, err := b.direct.Changes(t.Context(), b.project, 0)
	require.NoError(t, err)
	require.Equal(t, []team.SID{early}, sids(infos))
	require.NoError(t, tx.Commit(t.Context()))
	infos, _, err = b.direct.Changes(t.Context(), b.project, cursor)
	require.NoError(t, err)
	require.Contains(t, sids(infos), late)
}

func sids(infos []team.Info) (all []team.SID) {
	for _, i := range infos {
		all = append(all, i.SID)
	}
	return all
}

// images has a session in the trash that names an image, and a second session.
func (b *broken) images(t *testing.T, image []byte) (second team.SID) {
	t.Helper()
	first := b.session(t, "one\n")
	require.NoError(t, b.direct.PutBlob(t.Context(), b.project, first, image))
	require.NoError(t, b.direct.Delete(t.Context(), first, false))
	return b.session(t, "two\n")
}

const putBlob = `select xcsh.put_blob_v1($1, $2, $3)`

func TestAPurgeKeepsAnImageThatASessionBeginsToName(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	image := []byte("image")
	second := b.images(t, image)
	tx := b.begin(t, "ann")
	_, err := tx.Exec(t.Context(), putBlob, b.project, [16]byte(second.UUID), image)
	require.NoError(t, err)
	other, purged := b.Connect(t, "ann"), make(chan error, 1)
	go func() {
		_, err := other.Purge(t.Context(), b.project, true)
		purged <- err
	}()
	b.waits(t)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-purged)
	got, err := b.direct.Blob(t.Context(), b.project, team.SumOf(image))
	require.NoError(t, err)
	require.Equal(t, image, got)
}

func TestAnImageIsStoredAgainBehindAPurge(t *testing.T) {
	t.Parallel()
	b := newBroken(t)
	image := []byte("image")
	second := b.images(t, image)
	tx := b.begin(t, "ann")
	_, err := tx.Exec(t.Context(), `select xcsh.purge_v1($1, true)`, b.project)
	require.NoError(t, err)
	stored := make(chan error, 1)
	go func() { stored <- b.direct.PutBlob(t.Context(), b.project, second, image) }()
	b.waits(t)
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-stored)
	got, err := b.direct.Blob(t.Context(), b.project, team.SumOf(image))
	require.NoError(t, err)
	require.Equal(t, image, got)
}

// It inspects all goroutines, so that it isn't parallel.
func TestAClosedStoreLeavesNoGoroutine(t *testing.T) {
	d := pgtest.New(t)
	end := leaktest.Begin(t)
	s, err := pg.Open(pg.Config{Conn: d.Conn(d.Superuser())})
	require.NoError(t, err)
	s.Tell(t.Context(), team.NewSID(), 1)
	require.NoError(t, s.Close())
	end()
}
