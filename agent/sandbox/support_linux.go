package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// The versions of Landlock in which something became possible.
const (
	landlockRefer    = 2 // files can move between directories, without which builds fail
	landlockTruncate = 3 // emptying a file is a right of its own; seccomp helps before
	landlockNetwork  = 4
	landlockScopes   = 6
)

// Supported queries the kernel.
func Supported() Support {
	version := landlockVersion()
	switch {
	case auditArch == 0:
		return Support{Sentence: "No sandbox: system calls cannot be filtered on this processor, so every command needs approval."}
	case version < landlockRefer:
		return Support{Sentence: "No sandbox: the kernel does not support Landlock version 2 (Linux 5.19) or later, so every command needs approval."}
	}
	sentence := fmt.Sprintf("Commands run in a sandbox (Landlock version %d and seccomp).", version)
	if version < landlockScopes {
		sentence += " This Landlock version does not block signals to other programs."
	}
	return Support{OK: true, Sentence: sentence}
}

// landlockVersion queries the kernel; 0 is for none, or one that is switched off.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}
