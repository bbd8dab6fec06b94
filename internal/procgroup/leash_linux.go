package procgroup

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
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
	entries, _ := os.ReadDir("/proc") //nolint:forbidigo // the kernel's; without it there are none to find
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok {
			children[parent] = append(children[parent], pid)
		}
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

// parentOf returns the parent of a process.
func parentOf(pid int) (parent int, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") //nolint:forbidigo // the kernel's
	if err != nil {
		return 0, false
	}
	// The name, in parentheses, can contain anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil
}
