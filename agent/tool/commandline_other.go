//go:build !windows

package tool

import "os/exec"

// quoteAll does nothing: other systems have no command lines.
func quoteAll(*exec.Cmd) {}
