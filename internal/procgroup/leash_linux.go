package procgroup

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// adoptOrphans makes this process the parent of descendants whose own parent has ended.
func adoptOrphans() error {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		return os.NewSyscallError("prctl", errno)
	}
	return nil
}

// bind ends the program if this process is killed, by the program for example. The signal comes when the
// thread ends that started the program, so the calling goroutine keeps its thread.
func bind(cmd *exec.Cmd) {
	runtime.LockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// endGroup does nothing: a process that was left in the group is a descendant, and was waited for.
func endGroup() {}

// signalAll signals all descendants of this process.
func signalAll(s syscall.Signal) {
	for _, pid := range descendants(os.Getpid()) {
		_ = syscall.Kill(pid, s) // the error is that it has ended
	}
}

// descendants returns the descendants of a process.
func descendants(of int) (pids []int) {
	children := map[int][]int{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p.pid)
	}
	for next := children[of]; len(next) > 0; {
		pids = append(pids, next...)
		var below []int
		for _, pid := range next {
			below = append(below, children[pid]...)
			delete(children, pid) // a pid that was used again must not lead back
		}
		next = below
	}
	return pids
}
