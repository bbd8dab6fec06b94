// Package racetest leaves out tests under the race detector.
package racetest

import "testing"

// Large skips a test of large inputs, or of many processes without shared memory, under the race detector, which makes it up to
// thirty times slower and finds nothing in it. scripts/test.sh runs these tests without the detector.
func Large(t testing.TB) {
	t.Helper()
	if enabled {
		t.Skip("it runs without the race detector")
	}
}
