//go:build unix

package intake

import "syscall"

// nonblock keeps an open from waiting for the other end of a pipe, and a terminal from becoming
// the process's own.
const nonblock = syscall.O_NONBLOCK | syscall.O_NOCTTY
