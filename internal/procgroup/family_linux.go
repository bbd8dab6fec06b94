package procgroup

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// processes returns the running processes of this machine that are visible here. One that has ended and was not yet
// waited for is not running.
func processes() (running []process) {
	entries, _ := os.ReadDir("/proc") //nolint:forbidigo // the kernel's; without it there are none to find
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := readProcess(pid); ok {
			running = append(running, p)
		}
	}
	return running
}

func readProcess(pid int) (p process, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") //nolint:forbidigo // the kernel's
	if err != nil {
		return process{}, false
	}
	// The name, in parentheses, can contain anything. The fields after it: state, parent, group, session, and the
	// time of the start as the twentieth.
	const startedAt = 19
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startedAt || bytes.ContainsAny(fields[0], "ZXx") {
		return process{}, false
	}
	p = process{pid: pid, started: string(fields[startedAt])}
	for i, to := range []*int{&p.parent, &p.group, &p.session} {
		if *to, err = strconv.Atoi(string(fields[i+1])); err != nil {
			return process{}, false
		}
	}
	return p, true
}

// hasVariable reports whether a process was started with an assignment in its environment.
func hasVariable(pid int, assignment string) bool {
	environ, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ") //nolint:forbidigo // the kernel's; one of another user has none of ours
	for v := range bytes.SplitSeq(environ, []byte{0}) {
		if string(v) == assignment {
			return true
		}
	}
	return false
}

// awaitExit waits until a child process has ended, and leaves it to be waited for. It reports whether it could.
func awaitExit(pid int) bool {
	const onlyPid = 1  // P_PID
	var info [128]byte // siginfo_t, not used
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, onlyPid, uintptr(pid), uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return errno == 0
		}
	}
}
