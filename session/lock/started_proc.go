//go:build unix && !darwin

package lock

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/afero"
)

// startField is the index of the start time in [processStat], in clock ticks after the boot: field 22 of
// proc_pid_stat(5).
const startField = 22 - 3

// processStarted distinguishes processes with the same pid: the boot of the machine and
// the moment within it, "" where the system does not report it.
func processStarted(pid int) string {
	stat := processStat(pid)
	boot, err := afero.ReadFile(afero.NewOsFs(), "/proc/sys/kernel/random/boot_id")
	if err != nil || len(stat) <= startField {
		return ""
	}
	return strings.TrimSpace(string(boot)) + ":" + stat[startField]
}

// processBorn returns the time at which a process was started; zero where the system does not report it. It changes if
// the clock is set.
func processBorn(pid int) time.Time {
	boot, err := afero.ReadFile(afero.NewOsFs(), "/proc/stat")
	if err != nil {
		return time.Time{}
	}
	return bornAt(processStat(pid), string(boot))
}

// bornAt computes it from the information about the process and the system's. The resolution is a second.
func bornAt(stat []string, system string) time.Time {
	const ticks = 100 // in a second, on all machines that Go supports
	if len(stat) <= startField {
		return time.Time{}
	}
	for line := range strings.Lines(system) {
		text, isBoot := strings.CutPrefix(strings.TrimSpace(line), "btime ")
		if !isBoot {
			continue
		}
		boot, bootErr := strconv.ParseInt(text, 10, 64)
		after, err := strconv.ParseInt(stat[startField], 10, 64)
		if err == nil && bootErr == nil {
			return time.Unix(boot+after/ticks, 0)
		}
	}
	return time.Time{}
}
