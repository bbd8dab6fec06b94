//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// ignoreBrokenPipe makes writing to a disconnected client return an error instead of ending the process,
// so that the log is flushed. The signal is caught and not ignored, because the commands of tools would
// inherit an ignored signal, and "yes | head" would complain.
func ignoreBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
