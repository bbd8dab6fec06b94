package lock

import (
	"errors"
	"strconv"
	"syscall"
	"time"
)

// Alive reports whether a process exists. A process that may not be queried counts as
// alive.
func Alive(pid int) bool {
	h, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		const invalidParameter = syscall.Errno(87) // no process has this id
		return !errors.Is(err, invalidParameter)
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	event, err := syscall.WaitForSingleObject(h, 0)
	return err != nil || event == syscall.WAIT_TIMEOUT
}

// processStarted distinguishes processes with the same pid: the moment at which the process
// started, in units of 100 ns, "" if there is none or if it may not be queried.
func processStarted(pid int) string {
	created, ok := creation(pid)
	if !ok {
		return ""
	}
	return strconv.FormatUint(uint64(created.HighDateTime)<<32|uint64(created.LowDateTime), 10)
}

// processBorn returns the time at which a process was started; zero if there is none or if it may not be queried.
func processBorn(pid int) time.Time {
	created, ok := creation(pid)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, created.Nanoseconds())
}

// creation returns when a running process was started. One that has ended still has its times while any program has a
// handle of it.
func creation(pid int) (created syscall.Filetime, ok bool) {
	const queryLimitedInformation = 0x1000
	h, err := syscall.OpenProcess(queryLimitedInformation|syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return created, false
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	if event, err := syscall.WaitForSingleObject(h, 0); err == nil && event == syscall.WAIT_OBJECT_0 {
		return created, false
	}
	var exited, kernel, user syscall.Filetime
	err = syscall.GetProcessTimes(h, &created, &exited, &kernel, &user)
	return created, err == nil
}
