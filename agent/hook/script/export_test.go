package script

import "time"

// Limit replaces how long executables may take.
func (h *Hooks) Limit(ask, notify, drain time.Duration) { h.limits = limits{ask, ask, notify, drain} }

// MostTold is how many events of a folder may wait.
const MaxNotifications = maxNotifications

// Limits are how long executables may take.
func (h *Hooks) Limits() (ask, compact, notify, drain time.Duration) {
	return h.limits.ask, h.limits.compact, h.limits.notify, h.limits.drain
}
