//go:build !unix && !windows

package procgroup

import "os/exec"

// Family is a running program. This system offers no means to end the processes that it starts.
type Family struct{ head *exec.Cmd }

// StartFamily starts a program.
func StartFamily(cmd *exec.Cmd) (*Family, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Family{cmd}, nil
}

// Look does nothing on this system.
func (f *Family) Look() {}

// Terminate is Kill here.
func (f *Family) Terminate() { f.Kill() }

// Kill ends the program.
func (f *Family) Kill() (left []int) {
	Kill(f.head.Process)
	return nil
}

// Await returns when the program has ended.
func (f *Family) Await() { _ = f.head.Wait() } // the caller gets the result from ProcessState

// Wait does nothing after Await.
func (f *Family) Wait() {}
