//go:build unix

package regular

import "syscall"

const directory = syscall.O_DIRECTORY
