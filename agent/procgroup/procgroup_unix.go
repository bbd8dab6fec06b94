//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Own gives a command that was not started yet a session of its own, and so a process group.
// Without a terminal nothing can ask the person for a password behind the editor's back, and
// wait for ever.
func Own(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
}

// Terminate tells the process and its descendants that have not left its group to end. It
// does nothing when nobody is left.
func Terminate(p *os.Process) { signal(p, syscall.SIGTERM) }

// Kill ends them.
func Kill(p *os.Process) { signal(p, syscall.SIGKILL) }

// signal signals a whole group. The error is that nobody is left.
func signal(p *os.Process, s syscall.Signal) { _ = syscall.Kill(-p.Pid, s) }
