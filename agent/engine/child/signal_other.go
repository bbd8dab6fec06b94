//go:build !unix

package child

import "os"

// signalOf returns "": this system has no signals.
func signalOf(*os.ProcessState) string { return "" }

// isBusy returns false on this system.
func isBusy(error) bool { return false }
