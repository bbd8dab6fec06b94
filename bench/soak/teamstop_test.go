//go:build unix

package soak

import (
	"encoding/json"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// TestStoppedPushers stops a process at any moment while it sends growing sessions. The server waits for none of its transactions. Another
// process of the machine sends the lines of the meantime, and the stopped one continues with what it knew before. Each session is in the
// store once, with all its lines. XCSH_SOAK makes it 100 stops.
// Proves: TM-23
func TestStoppedPushers(t *testing.T) {
	t.Parallel()
	racetest.Large(t)
	d := pgtest.New(t)
	store, conn := sharedStore(t, d)
	name, err := json.Marshal(pusher{Conn: conn, Device: team.NewDeviceID()})
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(3, 0))
	w := newTerminals(t, 3)
	for range rounds(6, 100) {
		stopped := start(t, "push", w.dir, string(name))
		require.True(t, stopped.acks.Scan(), "it ended: %s", stopped.said.String())
		for range 5 + r.IntN(15) {
			require.NoError(t, w.write())
			<-time.After(time.Duration(r.IntN(5)) * time.Millisecond)
		}
		require.NoError(t, stopped.Process.Signal(syscall.SIGSTOP))
		require.NoError(t, w.write())
		require.Eventually(t, func() bool {
			return pgtest.Value[bool](t, d, `select not exists (select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null)`)
		}, time.Minute, 5*time.Millisecond, "a transaction waits for the stopped process")

		other := start(t, "push", w.dir, string(name))
		require.NoError(t, other.stdin.Close())
		drain(t, other)
		require.NoError(t, w.write())
		require.NoError(t, stopped.Process.Signal(syscall.SIGCONT))
		require.NoError(t, stopped.stdin.Close())
		drain(t, stopped)
	}
	stop := make(chan struct{})
	close(stop)
	require.NoError(t, w.run(stop), "the rest of torn lines")
	last := start(t, "push", w.dir, string(name))
	require.NoError(t, last.stdin.Close())
	drain(t, last)
	requireShared(t, store, w)
}
