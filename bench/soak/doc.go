// Package soak holds tests that kill processes and let them compete for a file. They run the test
// binary itself as the process: bench/soak, and not cmd/xcsh-ls, because the killed process must be
// nothing but a writer.
package soak
