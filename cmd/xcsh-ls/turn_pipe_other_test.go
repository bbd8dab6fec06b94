//go:build !unix

package main

import "testing"

// makePipe skips the test on systems without named pipes.
func makePipe(t *testing.T, _ string) {
	t.Helper()
	t.Skip("needs named pipes")
}
