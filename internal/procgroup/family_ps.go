//go:build unix && !linux

package procgroup

import (
	"os/exec"
	"strconv"
	"strings"
)

// processes returns the running processes of this machine, as ps lists them.
func processes() (running []process) {
	cmd := exec.Command("/bin/ps", "-axo", "pid=,ppid=,pgid=,stat=,lstart=") //nolint:noctx // it lists and ends
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	out, _ := cmd.Output() // without it there are none to find
	for line := range strings.Lines(string(out)) {
		const startedAt = 4
		fields := strings.Fields(line)
		if len(fields) <= startedAt || strings.HasPrefix(fields[3], "Z") {
			continue
		}
		p := process{started: strings.Join(fields[startedAt:], " ")}
		ok := true
		for i, to := range []*int{&p.pid, &p.parent, &p.group} {
			n, err := strconv.Atoi(fields[i])
			*to, ok = n, ok && err == nil
		}
		if ok {
			running = append(running, p)
		}
	}
	return running
}

// hasVariable cannot be answered on this system, which hides the environment of most programs.
func hasVariable(int, string) bool { return false }

// awaitExit leaves it to Wait, so that the id of the head is free a moment before its group is looked at. No system
// uses an id again that soon.
func awaitExit(int) bool { return false }
