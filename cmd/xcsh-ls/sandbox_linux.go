package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// What changes files. Nothing else is restricted, so that reading needs no rule.
const (
	changesFiles = ll.AccessFSWriteFile
	changesDirs  = ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeChar | ll.AccessFSMakeDir |
		ll.AccessFSMakeReg | ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeBlock | ll.AccessFSMakeSym
)

// Where everything may write. The directory for temporary files is named by the caller.
var (
	commonDirs  = []string{"/dev/shm", "/dev/pts", "/proc/self"}
	commonFiles = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx"}
)

// sandboxExec does not return when it succeeds. It fails where there is no Landlock
// instead of running the program unprotected.
func sandboxExec(write, args []string) error {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	if err := restrict(write); err != nil {
		return fault.New(fault.IO, "The command was not run, because it cannot be sandboxed: %w", err)
	}
	err = syscall.Exec(program, args, os.Environ())
	return fault.New(fault.IO, "Cannot run %s: %w", program, err)
}

func restrict(write []string) error {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return fmt.Errorf("this kernel has no Landlock: %w", err)
	}
	files, dirs := landlock.AccessFSSet(changesFiles), landlock.AccessFSSet(changesDirs)
	// Each is a right of its own in later versions. The first version cannot allow that a
	// file moves to another directory.
	if version >= 2 {
		dirs |= ll.AccessFSRefer
	}
	if version >= 3 {
		files |= ll.AccessFSTruncate
	}
	config, err := landlock.NewConfig(files | dirs)
	if err != nil {
		return err
	}
	return config.RestrictPaths(
		landlock.PathAccess(files|dirs, append(write, commonDirs...)...).IgnoreIfMissing(),
		landlock.PathAccess(files, commonFiles...).IgnoreIfMissing(),
	)
}
