package publish_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// A disk image is started twice: both machines have the same device and the same state. The store gives the
// lease to both, and their sums differ at the first line.
// Proves: TM-25
func TestAClonedMachineForks(t *testing.T) {
	t.Parallel()
	w := newWorld()
	device := team.Device{ID: team.NewDeviceID(), Label: "image"}
	m := w.machine(t, "ann")
	_, err := m.login.Hello(t.Context(), device)
	require.NoError(t, err)
	m.put(lines("a", 0, 10))
	sid := m.sent()

	clone := w.machine(t, "ann")
	_, err = clone.login.Hello(t.Context(), device)
	require.NoError(t, err)
	clone.put(lines("a", 0, 10))
	require.Equal(t, sid, clone.sent(), "nothing differs yet")

	m.add(line("a", 10))
	require.Equal(t, sid, m.sent())
	clone.add(line("b", 10))
	forked := clone.sent()
	require.NotEqual(t, sid, forked)
	m.add(line("a", 11))
	require.Equal(t, sid, m.sent(), "the first one goes on")
	clone.add(line("b", 11))
	require.Equal(t, forked, clone.sent())
	w.check(t, split(string(m.body())+string(clone.body())))
}

// wrong is a clock that is wrong by some time, in either direction.
type wrong struct {
	publish.Clock

	by time.Duration
}

func (c wrong) Now() time.Time { return c.Clock.Now().Add(c.by) }

// Machines whose clocks are wrong by years take turns at a session.
// Proves: TM-24
func TestWrongClocksChangeNothing(t *testing.T) {
	t.Parallel()
	const years = 30 * 365 * 24 * time.Hour
	w := newWorld()
	early, late := w.machine(t, "ann"), w.machine(t, "bob")
	early.clock, late.clock = wrong{w, -years}, wrong{w, years}
	early.start()
	late.start()
	early.put(lines("a", 0, 10))
	sid := early.sent()
	for n := 10; n < 20; n++ {
		w.pass(leaseTime)
		from, to := early, late
		if n%2 == 0 {
			from, to = late, early
		}
		from.put(string(to.body()))
		from.add(line("a", n))
		require.Equal(t, sid, from.sent())
	}
	require.Zero(t, early.count(publish.Forked)+late.count(publish.Forked))
	require.Len(t, w.sessions(t), 1)
	w.check(t, split(string(early.body())))
}

// A session stays in the store when its file is removed, and is continued when it is pulled again.
// Proves: TM-29
func TestARemovedFileStaysInTheStore(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		w := newWorld()
		m := w.machine(t, "ann")
		m.put(lines("a", 0, 10))
		sid := m.sent()
		was := m.body()
		require.NoError(t, m.disk.Remove(path))
		require.Zero(t, m.flush())
		m.restart(keep)
		require.Zero(t, m.flush())
		require.Equal(t, string(was), w.body(t, sid))
		m.put(string(was)) // a pull writes it again
		m.add(line("a", 10))
		require.Equal(t, sid, m.sent())
		require.Zero(t, m.count(publish.Failed)+m.count(publish.Forked))
	}
}
