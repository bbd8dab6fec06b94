//go:build unix

package child

import (
	"errors"
	"os"
	"syscall"
)

// signalOf returns the name of the signal that ended a process, or "".
func signalOf(state *os.ProcessState) string {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

// isBusy reports whether a program could not be started because a file is still being written.
func isBusy(err error) bool { return errors.Is(err, syscall.ETXTBSY) }
