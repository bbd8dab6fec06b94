//go:build unix

package lock

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/afero"
)

// Alive reports whether a process exists, also one of another user. A process that ended
// but was not waited for (a zombie) does not count, where the system reports that.
func Alive(pid int) bool {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return false
	}
	stat := processStat(pid)
	return len(stat) == 0 || stat[0] != "Z" && stat[0] != "X"
}

// processStat returns Linux's information about a process, from the third field on;
// nothing on other systems. It is the machine's, wherever the sessions are stored.
func processStat(pid int) []string {
	stat, err := afero.ReadFile(afero.NewOsFs(), fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	// "pid (name) S ...": the name may hold anything, the last parenthesis ends it.
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}
