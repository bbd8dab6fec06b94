//go:build !unix && !windows

package session

// ProcessAlive cannot tell here, so no process counts as gone.
func ProcessAlive(int) bool { return true }

// processStarted cannot tell here.
func processStarted(int) string { return "" }

// fileInUse is for systems that refuse to remove an open file.
func fileInUse(error) bool { return false }
