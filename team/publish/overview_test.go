package publish_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// TestUnsentIsCountedFromMemory also while files cannot be read.
func TestUnsentIsCountedFromMemory(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	left, since := m.p.Unsent()
	require.Zero(t, left)
	require.True(t, since.IsZero())
	changed := m.p.Changed()
	m.put(lines("a", 0, 3))
	m.offline = unreachable()
	began := w.Now()
	m.flush()
	select {
	case <-changed:
	default:
		t.Fatal("no change was notified")
	}
	require.NoError(t, m.disk.Remove(path))
	left, since = m.p.Unsent()
	require.Equal(t, 1, left.Sessions)
	require.EqualValues(t, len(lines("a", 0, 3)), left.Bytes)
	require.True(t, fault.Is(left.Err, fault.Offline))
	require.Equal(t, began, since)
	m.offline = nil
	m.put(lines("a", 0, 3))
	m.sent()
	left, since = m.p.Unsent()
	require.Zero(t, left)
	require.True(t, since.IsZero())
}

// TestCompareFindsLinesThatABackupLacks although the file did not change.
// Proves: TM-41
func TestCompareFindsLinesThatABackupLacks(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 3))
	m.sent()
	a := m.answer()
	m.p.Touched(path)
	m.again()
	require.Empty(t, a.appends)
	server := newWorld().Server // restored from before the session
	server.Member("ann", "core", 3)
	login := server.Connect("ann")
	_, err := login.Hello(t.Context(), team.Device{ID: team.NewDeviceID()})
	require.NoError(t, err)
	m.login, w.Server = login, server
	m.wrap = nil
	require.NoError(t, m.states().ForgetAll())
	m.p.Compare()
	require.Zero(t, m.again())
	require.Equal(t, publish.Sent, m.p.State(path).Phase)
	require.Equal(t, lines("a", 0, 3), w.body(t, m.p.State(path).SID))
}
