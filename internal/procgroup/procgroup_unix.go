//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Own gives a command that was not started yet a session of its own, and so a process group.
// Without a terminal no process can ask the user for a password behind the editor's back, and wait
// for ever.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// Terminate sends SIGTERM to the process and its descendants that have not left its group. It does
// nothing if no process is left.
func Terminate(p *os.Process) { signalGroup(p, syscall.SIGTERM) }

// Kill ends them.
func Kill(p *os.Process) { signalGroup(p, syscall.SIGKILL) }

// signalGroup signals a whole group. The only error is that no process is left.
func signalGroup(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) }
