package child

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the processor time of a process. The clock of the process is exact to the nanosecond, where
// /proc/PID/stat counts ticks of 10 ms.
func processorTime(pid int) time.Duration {
	var t unix.Timespec
	const scheduled = 2 // CPUCLOCK_SCHED of the kernel: the time that the scheduler counted, of all threads
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// memory returns a size of a process in bytes.
func memory(pid int, size string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if rest, ok := bytes.CutPrefix(line, []byte(size)); ok {
			kb, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(rest), []byte("kB")))), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// resetPeak sets the largest resident size to the current one. Where that is not allowed, figures include what came before.
func resetPeak(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o600)
}
