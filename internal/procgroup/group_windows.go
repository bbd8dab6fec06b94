package procgroup

import "os/exec"

// Group is a running program and every process that it starts, directly or not: they are in one job object.
type Group struct{ family *Family }

// Start starts a program, which runs only after it is in the job.
func Start(cmd *exec.Cmd) (*Group, error) {
	f, err := StartFamily(cmd)
	if err != nil {
		return nil, err
	}
	return &Group{f}, nil
}

// Terminate is Kill: this system has no such signal.
func (g *Group) Terminate() { g.Kill() }

// Kill ends the members, and returns before they have ended.
func (g *Group) Kill() { g.family.end() }

// Close releases the job, after the program has ended. Other members continue until this process ends.
func (g *Group) Close() { g.family.release() }
