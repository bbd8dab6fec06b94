// Package leaktest finds goroutines that a test leaves behind.
package leaktest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// limit is how long goroutines may take to end on a busy machine.
const limit = 20 * time.Second

// Begin returns a function that waits for the goroutines that were started since Begin, and fails
// the test if some of them don't end. It inspects the whole process, so that the test must not be
// parallel.
func Begin(t *testing.T) (end func()) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	return func() {
		t.Helper()
		err := goleak.Find(before) // waits less than a second
		for began := time.Now(); err != nil && time.Since(began) < limit; {
			err = goleak.Find(before)
		}
		require.NoError(t, err)
	}
}
