//go:build !unix && !windows

package procgroup

import "os/exec"

// Group is a running program. This system offers no means to end the processes that it starts.
type Group struct{ cmd *exec.Cmd }

// Start starts a program.
func Start(cmd *exec.Cmd) (*Group, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Group{cmd}, nil
}

// Terminate is Kill here.
func (g *Group) Terminate() { g.Kill() }

// Kill ends the program.
func (g *Group) Kill() { _ = g.cmd.Process.Kill() } // the error is that it has ended

// Close does nothing on this system.
func (g *Group) Close() {}
