package procgroup

import (
	"os/exec"
	"sync"
)

// Run runs a command that has a context, as its method Run does. The end of the context ends the whole group.
func Run(cmd *exec.Cmd) error {
	var mu sync.Mutex
	var group *Group // guarded by mu
	cancelled := false
	cmd.Cancel = func() error {
		mu.Lock()
		defer mu.Unlock()
		cancelled = true // also if the start, which may still go on, has not returned the group yet
		if group != nil {
			group.Kill()
		}
		return nil
	}
	g, err := Start(cmd)
	if err != nil {
		return err
	}
	defer g.Close()
	mu.Lock()
	group = g
	if cancelled {
		g.Kill()
	}
	mu.Unlock()
	return cmd.Wait()
}
