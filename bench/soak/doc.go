// Package soak holds tests that kill processes and let them compete for a file. They run the test
// binary itself as the process: bench/soak, and not cmd/xcsh-ls, because the killed process must be
// nothing but a writer, or what sends the written lines to the store of a team.
package soak
