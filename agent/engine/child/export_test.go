package child

import "time"

// EndWait waits until the child has ended, and lets the time pass for which its output is then waited for.
func EndWait(c *Child) {
	<-c.exited
	_ = c.stdout.SetReadDeadline(time.Unix(1, 0))
}
