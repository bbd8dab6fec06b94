package main

import (
	"os"
	"os/signal"
	"syscall"
)

// stopSignals returns the signals that stop the servers and run: their commands are ended, and the
// session is saved and released. The end of a terminal or a connection is one of them, unless the
// program was started to outlive it, as nohup does.
func stopSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
