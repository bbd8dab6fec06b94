//go:build unix

package enginetest

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// detach gives a command a session of its own, as pi does, and ends all of it with its context.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// stopSelf stops the process for good. The signal may reach another thread first, so this one must not go on meanwhile.
func stopSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	for {
		time.Sleep(time.Hour)
	}
}

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}
