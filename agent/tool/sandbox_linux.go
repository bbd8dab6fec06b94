package tool

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// SandboxStatus reports whether commands can be kept from writing where they should not,
// and says it in a sentence for the person.
func SandboxStatus() (available bool, sentence string) {
	version := landlockVersion()
	if version < 1 {
		return false, "No sandbox: this kernel has no Landlock, so that commands can write whatever you can write."
	}
	sentence = fmt.Sprintf("Commands can be sandboxed by Landlock (version %d): they write only to their folder and to temporary files.", version)
	const truncating = 3 // the first version that knows about it
	if version < truncating {
		sentence += " This version cannot keep them from emptying other files."
	}
	return true, sentence
}

// landlockVersion asks the kernel; 0 is for none, or one that is switched off.
func landlockVersion() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}
