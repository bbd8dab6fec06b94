//go:build unix

package enginetest

import (
	"os"
	"os/exec"
	"syscall"
)

// detach gives a command a session of its own, as pi does, and ends all of it with its context.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

func stopSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP) }

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
