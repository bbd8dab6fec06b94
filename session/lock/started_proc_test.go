//go:build unix && !darwin

package lock

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBornAt(t *testing.T) {
	t.Parallel()
	stat := strings.Fields("S 1 2 3 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 12345 99")
	require.Equal(t, "12345", stat[startField])
	for system, want := range map[string]time.Time{
		"cpu  1 2\nbtime 1700000000\nprocesses 5\n": time.Unix(1700000123, 0),
		"cpu  1 2\n":       {},
		"btime soon\n":     {},
		"btime 1700000000": time.Unix(1700000123, 0),
	} {
		require.True(t, want.Equal(bornAt(stat, system)), system)
	}
	require.Zero(t, bornAt(stat[:startField], "btime 1700000000\n"))
	require.Zero(t, bornAt(nil, "btime 1700000000\n"))
}
