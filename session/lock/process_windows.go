package lock

import (
	"errors"
	"strconv"
	"syscall"
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
	const queryLimitedInformation = 0x1000
	h, err := syscall.OpenProcess(queryLimitedInformation, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	var created, exited, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return ""
	}
	return strconv.FormatUint(uint64(created.HighDateTime)<<32|uint64(created.LowDateTime), 10)
}

// fileInUse reports whether err can be due to another program that has the file open or is
// just removing it, which is temporary.
func fileInUse(err error) bool {
	const (
		accessDenied     = syscall.Errno(5) // also: removed, but still open in some process
		sharingViolation = syscall.Errno(32)
		lockViolation    = syscall.Errno(33)
	)
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && (errno == accessDenied || errno == sharingViolation || errno == lockViolation)
}
