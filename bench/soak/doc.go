// Package soak holds tests that kill processes and let them compete for a file. They
// run the test binary itself as the process: bench/soak, and not cmd/xcsh-ls, because
// what is killed must be nothing but a writer.
package soak
