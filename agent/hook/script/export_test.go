package script

import "time"

// Limit replaces how long executables may take.
func (h *Hooks) Limit(ask, tell, drain time.Duration) { h.limits = limits{ask, tell, drain} }

// MostTold is how many events of a folder may wait.
const MostTold = mostTold

// Limits are how long executables may take.
func (h *Hooks) Limits() (ask, tell, drain time.Duration) {
	return h.limits.ask, h.limits.tell, h.limits.drain
}
