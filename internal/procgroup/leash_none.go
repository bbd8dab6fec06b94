//go:build !unix

package procgroup

import (
	"errors"
	"io"
)

// Leash fails on this system.
func Leash([]string, io.Reader) (int, error) {
	return 0, errors.New("procgroup: this system has no process groups")
}
