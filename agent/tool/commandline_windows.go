package tool

import (
	"os/exec"
	"syscall"
)

// quoteAll puts quotes around the arguments of a shell; see [commandLine].
func quoteAll(cmd *exec.Cmd) {
	if KnownShell(cmd.Path) {
		cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: commandLine(cmd.Args)}
	}
}
