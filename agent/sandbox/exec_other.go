//go:build !linux

package sandbox

import "github.com/xcsh-ls/xcsh-ls/internal/fault"

// Exec fails instead of running a command unprotected.
func Exec(Policy, []string) error {
	return fault.New(fault.Denied, "The command was not run: this launcher works on Linux only.")
}
