//go:build unix

package tool

import (
	"os"
	"syscall"
)

// exitCode is that of a shell: for a process that a signal ended, 128 and the signal.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}
