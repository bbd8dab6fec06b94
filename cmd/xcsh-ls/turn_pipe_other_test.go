//go:build !unix

package main

import "testing"

// makePipe skips the test where pipes have no names.
func makePipe(t *testing.T, _ string) {
	t.Helper()
	t.Skip("needs a pipe with a name")
}
