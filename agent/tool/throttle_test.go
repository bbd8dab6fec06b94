package tool

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestThrottle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var at []time.Duration
		th := newThrottle(100*time.Millisecond, func() { at = append(at, time.Since(begin)) })
		tick := time.NewTicker(10 * time.Millisecond)
		for range 26 { // 0, 10, ... 250 ms
			th.poke()
			<-tick.C
		}
		<-time.After(time.Second)
		th.poke()
		th.poke()
		th.stop()
		th.poke()
		<-time.After(time.Second)
		ms := time.Millisecond
		require.Equal(t, []time.Duration{0, 100 * ms, 200 * ms, 300 * ms, 1260 * ms}, at, "the last poke is answered too, unless it is stopped")
	})
}
