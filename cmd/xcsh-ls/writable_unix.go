//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// mayWrite asks the system whether this process may change the file, or make files in the
// directory, at path.
func mayWrite(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	mode := uint32(unix.W_OK)
	if info.IsDir() {
		mode |= unix.X_OK
	}
	return unix.Access(path, mode)
}
