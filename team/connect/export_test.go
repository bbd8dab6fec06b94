package connect

import "time"

// WithLimit returns a command that is ended after d.
func (c PasswordCommand) WithLimit(d time.Duration) PasswordCommand {
	c.limit = d
	return c
}
