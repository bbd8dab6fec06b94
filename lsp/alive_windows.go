package lsp

import "syscall"

// processAlive reports whether a process exists. One we may not look at counts as
// alive.
func processAlive(pid int) bool {
	h, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		const invalidParameter = syscall.Errno(87) // no process has this id
		return err != invalidParameter
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	event, err := syscall.WaitForSingleObject(h, 0)
	return err != nil || event == syscall.WAIT_TIMEOUT
}
