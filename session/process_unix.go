//go:build unix

package session

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

// ProcessAlive reports whether a process exists, also one of another person. One that
// ended but was not waited for (a zombie) does not count, where the system tells.
func ProcessAlive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat := processStat(pid)
	return len(stat) == 0 || stat[0] != "Z" && stat[0] != "X"
}

// processStarted tells processes with one pid apart: the boot of the machine and the
// moment within it, "" where the system does not tell.
func processStarted(pid int) string {
	const started = 22 - 3 // field 22 of proc_pid_stat(5), in clock ticks
	stat := processStat(pid)
	boot, err := afero.ReadFile(afero.NewOsFs(), "/proc/sys/kernel/random/boot_id")
	if err != nil || len(stat) <= started {
		return ""
	}
	return strings.TrimSpace(string(boot)) + ":" + stat[started]
}

// processStat is what Linux says about a process, from the third field on; nothing on
// other systems. It is the machine's, whatever the sessions are stored in.
func processStat(pid int) []string {
	stat, err := afero.ReadFile(afero.NewOsFs(), fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// "pid (name) S ...": the name may hold anything, the last parenthesis ends it.
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// fileInUse is for systems that refuse to remove an open file.
func fileInUse(error) bool { return false }
