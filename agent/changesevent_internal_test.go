package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Events about changes take a tenth of the time at most, and come within a few seconds.
func TestEventsAboutChangesThatTakeLongAreRare(t *testing.T) {
	t.Parallel()
	require.Equal(t, 300*time.Millisecond, ChangeSettings{}.changesAfter(0))
	require.Equal(t, time.Hour, ChangeSettings{Every: time.Hour}.changesAfter(time.Minute))
	require.Equal(t, 300*time.Millisecond, ChangeSettings{}.changesAfter(30*time.Millisecond))
	require.Equal(t, 2*time.Second, ChangeSettings{}.changesAfter(200*time.Millisecond))
	require.Equal(t, 5*time.Second, ChangeSettings{}.changesAfter(time.Minute))
}
