//go:build unix

package script

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup gives the executable a session of its own, and so a process group that is killed as a
// whole, and no terminal to ask the person on.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}

func isBusy(err error) bool { return errors.Is(err, syscall.ETXTBSY) }

func isExecutable(_ string, info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }

// trusted fails for what somebody else could have changed.
func trusted(path string, info fs.FileInfo) error {
	const others = 0o022
	if info.Mode()&others != 0 {
		return fmt.Errorf("others may write to %s; take that from them with: chmod go-w '%s'", path, path)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to somebody else", path)
	}
	return nil
}
