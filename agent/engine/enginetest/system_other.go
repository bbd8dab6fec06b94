//go:build !unix

package enginetest

import (
	"os"
	"os/exec"
)

func detach(*exec.Cmd) {}

// stopSelf stops the work of the double; this system cannot stop a process.
func stopSelf() { select {} }

func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = p.Kill()
	}
	select {}
}
