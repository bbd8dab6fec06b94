//go:build !windows

package main

import (
	"errors"
	"os"
	"syscall"
)

// enableStyles reports that terminals interpret control sequences.
func enableStyles(*os.File) bool { return true }

// isClosedPipe reports whether a write failed because the reader is gone. The signal SIGPIPE ends the program earlier, unless its
// parent process ignores that.
func isClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
