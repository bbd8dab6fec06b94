//go:build unix

package share

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives the program a session of its own, and so a process group. Without a
// terminal nothing can ask the person for a password behind the editor's back, and wait
// for ever.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

func terminate(p *os.Process) { signalGroup(p, syscall.SIGTERM) }
func kill(p *os.Process)      { signalGroup(p, syscall.SIGKILL) }

// signalGroup signals the process and its descendants that have not left its group. The
// error is that nobody is left.
func signalGroup(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) }
