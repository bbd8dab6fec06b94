package replicate_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/replicate"
)

// sharing returns a machine with a session in the store.
func (w *world) sharing(user string) *machine {
	w.Helper()
	m := w.machine(user)
	m.put(session1, line1)
	m.start()
	m.share(replicate.Sharing{Scope: "all"})
	w.pass(11 * time.Second)
	require.NotEmpty(w, m.sid())
	return m
}

var line1 = user(1)

// sid returns the id of the session in the store.
func (m *machine) sid() team.SID {
	m.w.Helper()
	sid, ok := m.r.SID(m.path(session1))
	require.True(m.w, ok)
	return sid
}

// lease returns the state of the lease, from the other side.
func (w *world) lease(sid team.SID) team.Writer {
	w.Helper()
	writer, err := w.server.Connect("kim").Writer(context.Background(), sid)
	require.NoError(w, err)
	return writer
}

// TestATurnHasTheLease until ten minutes after it.
func TestATurnHasTheLease(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		w.pass(time.Minute)
		require.Zero(t, w.lease(m.sid()).Left, "nobody uses it")
		end, err := m.r.Begin(context.Background(), m.path(session1))
		require.NoError(t, err)
		require.Positive(t, w.lease(m.sid()).Left)
		w.pass(15 * time.Minute)
		require.Greater(t, w.lease(m.sid()).Left, 15*time.Second, "the turn runs")
		end()
		end()
		w.pass(9 * time.Minute)
		require.Greater(t, w.lease(m.sid()).Left, 15*time.Second)
		w.pass(90 * time.Second)
		require.Zero(t, w.lease(m.sid()), "given back")
		m.close()
	})
}

// TestCloseGivesTheLeaseBack also one that an append took.
func TestCloseGivesTheLeaseBack(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		m.put(session2, user(1))
		m.turn(session2, user(2))
		sid, ok := m.r.SID(m.path(session2))
		require.True(t, ok)
		require.Positive(t, w.lease(sid).Left)
		m.close()
		require.Zero(t, w.lease(sid))
	})
}

// TestAnotherUsersTurnIsBusy with the data for a question.
func TestAnotherUsersTurnIsBusy(t *testing.T) {
	inWorld(t, func(w *world) {
		m, k := w.sharing("ann"), w.sharing("kim")
		w.pass(time.Minute)
		require.Equal(t, m.sid(), k.sid())
		end, err := k.r.Begin(context.Background(), k.path(session1))
		require.NoError(t, err)
		_, err = m.r.Begin(context.Background(), m.path(session1))
		f := requireKind(t, fault.Busy, err)
		require.Equal(t, "kim", f.Data["owner"])
		require.Equal(t, "kim's laptop", f.Data["device"])
		require.Greater(t, f.Data["leftMs"], int64(25_000))
		require.Contains(t, err.Error(), "kim writes in this session on kim's laptop")
		require.Equal(t, "kim", m.event(replicate.WriterChanged).Owner)
		writer, err := m.r.Writer(context.Background(), m.sid())
		require.NoError(t, err)
		require.Equal(t, "kim", writer.Owner)
		writer, err = k.r.Writer(context.Background(), m.sid())
		require.NoError(t, err)
		require.Zero(t, writer, "nobody else")
		_, err = m.r.Take(context.Background(), m.sid(), false)
		require.Equal(t, "kim", requireKind(t, fault.Busy, err).Data["owner"])

		waited := make(chan error, 1)
		go func() { waited <- m.r.Wait(context.Background(), m.sid()) }()
		w.pass(time.Minute)
		require.Empty(t, waited)
		end()
		k.close()
		w.pass(3 * time.Second)
		require.NoError(t, <-waited)
		fence, err := m.r.Take(context.Background(), m.sid(), false)
		require.NoError(t, err)
		require.Positive(t, fence)
		w.pass(time.Minute)
		require.Equal(t, "ann", w.lease(m.sid()).Owner, "kept")
		m.close()
	})
}

// TestAnotherDeviceOfTheUserIsTakenOver without a question.
func TestAnotherDeviceOfTheUserIsTakenOver(t *testing.T) {
	inWorld(t, func(w *world) {
		desk, laptop := w.sharing("ann"), w.sharing("ann")
		w.pass(time.Minute)
		desk.turn(session1, user(2))
		laptop.add(session1, user(2)) // pulled
		w.pass(20 * time.Second)
		laptop.turn(session1, user(3))
		require.Equal(t, map[string]string{session1 + ".0": user(1) + user(2) + user(3)}, w.bodies("kim"))
		w.pass(time.Minute)
		desk.add(session1, user(3))
		desk.turn(session1, user(4))
		require.Equal(t, map[string]string{session1 + ".0": user(1) + user(2) + user(3) + user(4)}, w.bodies("kim"))
		desk.close()
		laptop.close()
	})
}

// TestALeaseThatIsLostInMidTurn does not stop the turn; its lines become a fork.
// Proves: TM-22
func TestALeaseThatIsLostInMidTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		m, k := w.sharing("ann"), w.sharing("kim")
		w.pass(time.Minute)
		end, err := m.r.Begin(context.Background(), m.path(session1))
		require.NoError(t, err)
		_, err = k.r.Take(context.Background(), k.sid(), true)
		require.NoError(t, err)
		k.turn(session1, user(10))
		w.pass(11 * time.Second)
		require.Equal(t, "kim", m.event(replicate.WriterChanged).Owner)
		m.add(session1, user(2))
		end()
		k.close()
		w.pass(time.Minute)
		require.Equal(t, map[string]string{session1 + ".0": user(1) + user(10), session1 + ".1": user(1) + user(2)}, w.bodies("kim"))
		forked := m.event(replicate.Forked)
		require.Equal(t, m.sid(), forked.SID)
		require.Equal(t, m.path(session1), forked.Path)
		require.False(t, forked.At.IsZero())
		m.close()
	})
}

// TestATurnDoesNotWaitForTheNetwork longer than 300 ms, neither for a slow store nor for one that is down.
// Proves: TM-16
func TestATurnDoesNotWaitForTheNetwork(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		w.pass(time.Minute)
		m.line.set(func(l *line) { l.slow = 2 * time.Second })
		before := time.Now()
		end, err := m.r.Begin(context.Background(), m.path(session1))
		require.NoError(t, err)
		require.Equal(t, 300*time.Millisecond, time.Since(before))
		w.pass(10 * time.Second)
		require.Positive(t, w.lease(m.sid()).Left, "the answer came later")
		end()
		w.pass(5 * time.Second)
		m.line.set(func(l *line) { l.slow, l.down = 0, true })
		before = time.Now()
		end, err = m.r.Begin(context.Background(), m.path(session1))
		require.NoError(t, err)
		require.LessOrEqual(t, time.Since(before), 300*time.Millisecond)
		m.add(session1, user(2))
		end()
		w.pass(5 * time.Second)
		s := m.r.Status()
		require.Equal(t, "offline", s.State)
		require.Equal(t, 1, s.UnsentSessions)
		require.EqualValues(t, len(user(2)), s.UnsentBytes)
		require.False(t, s.Since.IsZero())
		before = time.Now()
		left := m.r.Flush(context.Background())
		require.Equal(t, 5*time.Second, time.Since(before))
		require.Contains(t, left.String(), "1 session (")
		before = time.Now()
		m.close()
		require.Zero(t, time.Since(before), "flushed already")
	})
}

// TestABlackHoleDelaysCloseByTheFlushOnly although the call takes longer.
func TestABlackHoleDelaysCloseByTheFlushOnly(t *testing.T) {
	inWorld(t, func(w *world) {
		m := w.sharing("ann")
		w.pass(2 * time.Minute)
		m.line.set(func(l *line) { l.slow, l.down = 10*time.Second, true })
		m.add(session1, user(2))
		m.r.TurnEnded(m.path(session1))
		synctest.Wait()
		before := time.Now()
		left := m.r.Flush(context.Background())
		require.Equal(t, 1, left.Sessions)
		require.LessOrEqual(t, time.Since(before), 5200*time.Millisecond)
		m.close()
	})
}
