//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// ignoreBrokenPipe makes writing to a client that is gone an error instead of the
// end of the process, so that the log is flushed.
func ignoreBrokenPipe() { signal.Ignore(syscall.SIGPIPE) }
