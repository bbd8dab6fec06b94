package sandbox

import (
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// auditArch is how the kernel names this processor to a filter.
const auditArch = unix.AUDIT_ARCH_AARCH64

// foreignCalls is above all numbers: there is one form of calls only.
const foreignCalls = 0xffffffff

// oldMetadataCalls are those of older processors.
var oldMetadataCalls []uint32

// truncatingOpen is about open, which this processor does not have.
func truncatingOpen() []bpf.Instruction { return nil }
