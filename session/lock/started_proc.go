//go:build unix && !darwin

package lock

import (
	"strings"

	"github.com/spf13/afero"
)

// processStarted distinguishes processes with the same pid: the boot of the machine and
// the moment within it, "" where the system does not report it.
func processStarted(pid int) string {
	const started = 22 - 3 // field 22 of proc_pid_stat(5), in clock ticks
	stat := processStat(pid)
	boot, err := afero.ReadFile(afero.NewOsFs(), "/proc/sys/kernel/random/boot_id")
	if err != nil || len(stat) <= started {
		return ""
	}
	return strings.TrimSpace(string(boot)) + ":" + stat[started]
}
