package publish

import (
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

const (
	smallest = 4 << 10 // bytes of a batch
	largest  = 1 << 20

	first      = 20 * time.Millisecond // back-off
	watched    = 2 * time.Second       // the longest back-off while a caller waits
	longest    = time.Minute           // the longest back-off in the background
	rarely     = 10 * time.Minute      // between attempts after an error that does not pass
	settling   = 50 * time.Millisecond // after a change of a file
	telling    = 200 * time.Millisecond
	resting    = 30 * time.Second      // without a change, until texts are filed and missing lines are brought
	describing = 10 * time.Minute      // between two descriptions of a file that never rests
	leastAsk   = 50 * time.Millisecond // between two requests for a lease
)

// sizer chooses the size of batches: over a line that breaks after some bytes only small ones arrive.
type sizer struct{ size, went int }

func newSizer() sizer { return sizer{size: largest} }

// broke halves the size.
func (s *sizer) broke() { s.size, s.went = max(smallest, s.size/2), 0 }

// sent doubles the size after eight batches.
func (s *sizer) sent() {
	if s.went++; s.went == 8 {
		s.size, s.went = min(largest, 2*s.size), 0
	}
}

// backOff returns the delay after a number of failures, counted from 1. Half of it is random.
func backOff(failures int, limit time.Duration, share float64) time.Duration {
	d := first << min(failures-1, 20)
	d = min(d, limit)
	return d/2 + time.Duration(share*float64(d/2))
}

// passes reports whether an error may disappear by itself, so that the call is repeated soon. Others are reported once and tried
// again rarely.
func passes(err error) bool {
	switch fault.KindOf(err) {
	case fault.Offline, fault.ReadOnly, fault.Stale, fault.IO, fault.NoSpace, fault.Cancelled:
		return true
	}
	return false
}
