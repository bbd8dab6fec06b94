package session

import (
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// Proves: X-022 (session ids), A-017
func TestSessionIDsContainTheirTimeAndDoNotRepeat(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	ids := newIDs(func() time.Time { return at }, nil)
	seen, greatest := map[string]bool{}, ""
	for range 10_000 {
		id := ids.session()
		require.Regexp(t, `^[0-9a-f]{16}$`, id)
		require.False(t, seen[id], "two sessions of one moment")
		seen[id], greatest = true, max(greatest, id)
	}
	at = at.Add(time.Millisecond)
	require.Greater(t, ids.session(), greatest)
}

// Proves: X-022
func TestEntryIDsAreNotTaken(t *testing.T) {
	t.Parallel()
	ids := newIDs(time.Now, nil)
	seen := map[string]bool{}
	for range 10_000 {
		id := ids.entry(func(id string) bool { return seen[id] })
		require.Regexp(t, `^[0-9a-f]{8}$`, id)
		require.False(t, seen[id])
		seen[id] = true
	}
	tries := 0
	id := ids.entry(func(string) bool { tries++; return true })
	require.Regexp(t, `^[0-9a-f]{16}$`, id, "a longer id is better than none")
	require.Equal(t, 100, tries)

	broken := newIDs(time.Now, iotest.ErrReader(iotest.ErrTimeout))
	require.Regexp(t, `^[0-9a-f]{16}$`, broken.entry(func(string) bool { return false }))
}
