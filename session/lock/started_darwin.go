package lock

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// processStarted distinguishes processes with the same pid: the moment at which the process
// started, "" if there is none. The kernel records it once, so that setting the clock does
// not change it.
func processStarted(pid int) string {
	at, ok := startTime(pid)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d.%06d", at.Sec, at.Usec)
}

// processBorn returns the time at which a process was started; zero if there is none.
func processBorn(pid int) time.Time {
	at, ok := startTime(pid)
	if !ok {
		return time.Time{}
	}
	return time.Unix(at.Unix())
}

func startTime(pid int) (at unix.Timeval, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid {
		return at, false
	}
	return info.Proc.P_starttime, true
}
