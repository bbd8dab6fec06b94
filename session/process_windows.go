package session

import (
	"errors"
	"syscall"
)

// ProcessAlive reports whether a process exists. One we may not look at counts as
// alive.
func ProcessAlive(pid int) bool {
	h, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		const invalidParameter = syscall.Errno(87) // no process has this id
		return !errors.Is(err, invalidParameter)
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	event, err := syscall.WaitForSingleObject(h, 0)
	return err != nil || event == syscall.WAIT_TIMEOUT
}

// processStarted cannot tell here.
func processStarted(int) string { return "" }

// fileInUse reports whether err can be due to another program that has the file open
// or is just removing it, which passes.
func fileInUse(err error) bool {
	const (
		accessDenied     = syscall.Errno(5) // also: removed, but still open somewhere
		sharingViolation = syscall.Errno(32)
		lockViolation    = syscall.Errno(33)
	)
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && (errno == accessDenied || errno == sharingViolation || errno == lockViolation)
}
