//go:build !unix

package procgroup

import (
	"os"
	"os/exec"
)

// Own does nothing on this system.
func Own(*exec.Cmd) {}

// Terminate is Kill here.
func Terminate(p *os.Process) { Kill(p) }

// Kill ends the process.
func Kill(p *os.Process) { _ = p.Kill() } // the error is that it has ended
