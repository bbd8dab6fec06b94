//go:build !windows

package keyvalue

import "os/exec"

// shell returns a command line as a program to start. The caller ends it.
func shell(command string) *exec.Cmd { return exec.Command("/bin/sh", "-c", command) } //nolint:noctx // it is ended with its family
