//go:build !unix

package share

import (
	"os"
	"os/exec"
)

// ownGroup has nothing to do here: only the program itself can be ended.
func ownGroup(*exec.Cmd) {}

// terminate kills the program. What it started goes on, without its output: there are no
// process groups here, and a job object would have to be made before the process runs.
func terminate(p *os.Process) { kill(p) }

func kill(p *os.Process) { _ = p.Kill() } // the error is that it has ended
