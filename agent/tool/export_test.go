package tool

import "time"

// WithGrace returns a shell that kills commands after another time.
func (s Shell) WithGrace(d time.Duration) Shell {
	s.grace = d
	return s
}
