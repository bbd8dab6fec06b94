//go:build unix && !linux

package procgroup

import (
	"os/exec"
	"syscall"
)

// adoptOrphans does nothing: this system gives orphans to its first process.
func adoptOrphans() error { return nil }

// bind does nothing: this system has no such signal.
func bind(*exec.Cmd) {}

// endGroup ends the processes that are left in the group of this process.
func endGroup() { signalAll(syscall.SIGTERM) }

// signalAll signals the group of this process. SIGKILL ends this process too, and SIGSTOP would stop
// it.
func signalAll(s syscall.Signal) {
	if s != syscall.SIGSTOP {
		_ = syscall.Kill(0, s) // the error is that no process is left
	}
}
