package sandbox

import (
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// auditArch is how the kernel names this processor to a filter.
const auditArch = unix.AUDIT_ARCH_X86_64

// foreignCalls is where the numbers of x32 begin.
const foreignCalls = 0x40000000

// oldMetadataCalls are those that arm64 does not have.
var oldMetadataCalls = []uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
}

// truncatingOpen is about open, which arm64 does not have.
func truncatingOpen() []bpf.Instruction { return on(unix.SYS_OPEN, refuseEmptying(1)...) }
