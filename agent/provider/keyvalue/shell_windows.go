package keyvalue

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// shell returns a command line as a program to start. The caller ends it.
func shell(command string) *exec.Cmd {
	path := filepath.Join(os.Getenv("SystemRoot"), "System32", "cmd.exe")
	cmd := exec.Command(path) //nolint:noctx // it is ended with its family
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /d /s /c "` + command + `"`, HideWindow: true}
	return cmd
}
