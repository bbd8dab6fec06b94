//go:build unix

package procgroup

import (
	"os"
	"os/exec"
	"syscall"
)

// Group is a running program and the processes that it started, unless they left its process group.
type Group struct{ program *os.Process }

// Start starts a program in a session of its own, and so in a process group. Without a terminal no process can ask
// the user for a password behind the editor's back, and wait for ever.
func Start(cmd *exec.Cmd) (*Group, error) {
	own(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Group{cmd.Process}, nil
}

func own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Terminate sends SIGTERM to the members. It does nothing if no process is left.
func (g *Group) Terminate() { g.signal(syscall.SIGTERM) }

// Kill ends the members.
func (g *Group) Kill() { g.signal(syscall.SIGKILL) }

// Close does nothing: the members that are left continue, also after this process.
func (g *Group) Close() {}

// signal signals the whole group. The only error is that no process is left.
func (g *Group) signal(s syscall.Signal) { _ = syscall.Kill(-g.program.Pid, s) }
