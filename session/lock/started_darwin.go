package lock

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// processStarted distinguishes processes with the same pid: the moment at which the process
// started, "" if there is none. The kernel records it once, so that setting the clock does
// not change it.
func processStarted(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return ""
	}
	at := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", at.Sec, at.Usec)
}
