package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Exec drops the rights of this process that the policy does not grant, and replaces the process
// with another program: argv. It returns only if it fails; then nothing was run. Rights that were
// dropped until then are not restored, so the caller must exit.
func Exec(p Policy, argv []string) error {
	// Rights belong to a thread, and the program takes over those of the one that starts it.
	runtime.LockOSThread()
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return fault.New(fault.NotFound, "Cannot run %s: %w", argv[0], err)
	}
	for _, take := range []func(Policy) error{closeFiles, limitResources, dropCapabilities, restrictFiles, filterCalls} {
		if err := take(p); err != nil {
			return fault.New(fault.IO, "The command was not run because it cannot be sandboxed: %w", err)
		}
	}
	err = syscall.Exec(program, argv, os.Environ())
	return fault.New(fault.IO, "Cannot run %s: %w", program, err)
}

// closeFiles closes the open files of this process to the program, except for the standard streams.
func closeFiles(Policy) error {
	const first = 3
	if err := unix.CloseRange(first, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil && err != unix.ENOSYS {
		return fmt.Errorf("close_range: %w", err)
	}
	return nil
}

const (
	// Limits of a command that runs without approval: seconds, and bytes of data.
	strictCPU    = 60
	strictMemory = 4 << 30

	// leastMemory is the minimum for any other process, also on a small machine.
	leastMemory = 4 << 30
)

// limitResources bounds the resources of a process, so that echo "$(</dev/zero)" ends by itself and
// not with the server, and prevents memory from being dumped into files.
func limitResources(p Policy) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_DATA: mostMemory()}
	if p.Level == Strict {
		limits[unix.RLIMIT_CPU], limits[unix.RLIMIT_DATA] = strictCPU, strictMemory
	}
	for what, most := range limits {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("setrlimit: %w", err)
		}
	}
	return nil
}

// mostMemory is three quarters of the machine's memory.
func mostMemory() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return leastMemory
	}
	return max(leastMemory, uint64(info.Totalram)*uint64(info.Unit)/4*3) //nolint:unconvert // 32 bits on some processors
}

// keptCapabilities are those of root that builds in containers need. The others reach past file
// rights: raw devices, the kernel's memory and log, other processes.
var keptCapabilities = []uint{
	unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID, unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID,
	unix.CAP_NET_BIND_SERVICE,
}

// dropCapabilities matters for root only; others have none.
func dropCapabilities(Policy) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var has [2]unix.CapUserData
	if err := unix.Capget(&header, &has[0]); err != nil {
		return fmt.Errorf("capget: %w", err)
	}
	var keep [2]uint32
	for _, c := range keptCapabilities {
		keep[c/32] |= 1 << (c % 32)
	}
	for c := uint(0); c <= unix.CAP_LAST_CAP; c++ {
		if keep[c/32]&(1<<(c%32)) == 0 {
			// Fails for a user without capabilities, who could not gain any either.
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0)
		}
	}
	for i := range has {
		has[i].Effective &= keep[i]
		has[i].Permitted &= keep[i]
		has[i].Inheritable = 0
	}
	if err := unix.Capset(&header, &has[0]); err != nil {
		return fmt.Errorf("capset: %w", err)
	}
	return nil
}
