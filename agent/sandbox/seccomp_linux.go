package sandbox

import (
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Where things are in struct seccomp_data.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// argument is the offset of the low half of an argument. Both processors are little-endian; the
// kernel ignores the high half of an int argument.
func argument(i int) uint32 { return offArgs + 8*uint32(i) }

// The results of a filter.
const (
	allowCall = unix.SECCOMP_RET_ALLOW
	refused   = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	absent    = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	killed    = unix.SECCOMP_RET_KILL_PROCESS
)

// absentCalls do not exist in a sandbox, so that programs fall back to others: they reach past
// Landlock and the filter, or past file rights into the kernel and other processes.
var absentCalls = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_FSCONFIG, unix.SYS_MOUNT_SETATTR, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_SYSLOG,
	unix.SYS_SETNS, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD,
}

// metadataCalls change attributes for which Landlock has no right: modes, owners, times and
// attributes of files. Builds need them, commands that only read do not.
var metadataCalls = []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR,
	sysSetxattrat, sysRemovexattrat, sysFileSetattr,
}

// sharedCalls reach memory and queues that processes of the user share and that are no files.
// Databases and builds need them, commands that only read do not.
var sharedCalls = []uint32{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// otherCalls change the process that their first argument names; 0 is the caller.
var otherCalls = []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR}

// Calls that are too new for the library; they have one number everywhere.
const (
	sysSetxattrat    = 463
	sysRemovexattrat = 466
	sysFileSetattr   = 469
)

// truncating reports whether this kernel's Landlock leaves truncation to the filter.
func truncating() bool { return landlockVersion() < landlockTruncate }

// filterCalls refuses system calls that Landlock of this kernel does not know about.
func filterCalls(p Policy) error {
	raw, err := bpf.Assemble(p.filter(auditArch, truncating()))
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no_new_privs: %w", err)
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}

// filter is the program that decides about each system call.
func (p Policy) filter(arch uint32, truncate bool) []bpf.Instruction {
	f := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: arch, SkipTrue: 1},
		bpf.RetConstant{Val: killed}, // a 32-bit program's calls have other numbers
		bpf.LoadAbsolute{Off: offNumber, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: foreignCalls, SkipTrue: 1},
		bpf.RetConstant{Val: killed}, // so have those of the x32 form
	}
	for _, nr := range absentCalls {
		f = append(f, on(nr, bpf.RetConstant{Val: absent})...)
	}
	if p.Level == Strict {
		for _, nr := range slices.Concat(metadataCalls, oldMetadataCalls, sharedCalls) {
			f = append(f, on(nr, bpf.RetConstant{Val: refused})...)
		}
		for _, nr := range otherCalls {
			f = append(f, on(nr, refuseOthers()...)...)
		}
	}
	// The filter cannot read a struct in memory.
	f = append(f, on(unix.SYS_CLONE3, bpf.RetConstant{Val: absent})...)
	f = append(f, on(unix.SYS_CLONE, refuseFlags(0, unix.CLONE_NEWUSER)...)...)
	f = append(f, on(unix.SYS_UNSHARE, refuseFlags(0, unix.CLONE_NEWUSER)...)...)
	requests := append([]uint32{unix.TIOCSTI, tiocLinux}, subvolumes...)
	if p.Level == Strict {
		requests = append(requests, fileFlags...)
	}
	f = append(f, on(unix.SYS_IOCTL, refuseValues(1, requests...)...)...)
	f = append(f, on(unix.SYS_SOCKET, p.sockets()...)...)
	if !p.UnixSockets {
		// A pair of sockets is a pipe, unless it can be connected to another one.
		f = append(f, on(unix.SYS_SOCKETPAIR, allowPairs()...)...)
	}
	if truncate {
		f = append(f, on(unix.SYS_TRUNCATE, bpf.RetConstant{Val: refused})...)
		f = append(f, on(unix.SYS_OPENAT2, bpf.RetConstant{Val: absent})...)
		f = append(f, on(unix.SYS_OPENAT, refuseEmptying(2)...)...)
		f = append(f, truncatingOpen()...)
	}
	return append(f, bpf.RetConstant{Val: allowCall})
}

// on runs instructions that end with an answer for one system call. The accumulator holds the
// number, before and after them.
func on(nr uint32, then ...bpf.Instruction) []bpf.Instruction {
	return append([]bpf.Instruction{bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nr, SkipTrue: uint8(len(then))}}, then...)
}

// sockets allows families of protocols.
func (p Policy) sockets() []bpf.Instruction {
	var families []uint32
	if p.Network {
		families = append(families, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
	}
	if p.UnixSockets {
		families = append(families, unix.AF_UNIX)
	}
	f := []bpf.Instruction{bpf.LoadAbsolute{Off: argument(0), Size: 4}}
	for _, family := range families {
		f = append(f, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: family, SkipTrue: 1}, bpf.RetConstant{Val: allowCall})
	}
	return append(f, bpf.RetConstant{Val: refused})
}

// allowPairs allows pairs of streams.
func allowPairs() []bpf.Instruction {
	const kind = 0xf // without SOCK_CLOEXEC and SOCK_NONBLOCK
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: argument(1), Size: 4},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: kind},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SOCK_DGRAM, SkipTrue: 1},
		bpf.RetConstant{Val: refused},
		bpf.RetConstant{Val: allowCall},
	}
}

// refuseOthers refuses a call whose first argument is not 0.
func refuseOthers() []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: argument(0), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0, SkipTrue: 1},
		bpf.RetConstant{Val: allowCall},
		bpf.RetConstant{Val: refused},
	}
}

// refuseFlags refuses a call with any of the bits in an argument.
func refuseFlags(arg int, bits uint32) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: argument(arg), Size: 4},
		bpf.JumpIf{Cond: bpf.JumpBitsNotSet, Val: bits, SkipTrue: 1},
		bpf.RetConstant{Val: refused},
		bpf.RetConstant{Val: allowCall},
	}
}

// refuseValues refuses a call with any of the values as an argument.
func refuseValues(arg int, values ...uint32) []bpf.Instruction {
	f := []bpf.Instruction{bpf.LoadAbsolute{Off: argument(arg), Size: 4}}
	for _, v := range values {
		f = append(f, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: v, SkipTrue: 1}, bpf.RetConstant{Val: refused})
	}
	return append(f, bpf.RetConstant{Val: allowCall})
}

// refuseEmptying refuses to open a file for reading and to empty it, which Linux does.
func refuseEmptying(flags int) []bpf.Instruction {
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: argument(flags), Size: 4},
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: unix.O_TRUNC | unix.O_ACCMODE},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.O_TRUNC | unix.O_RDONLY, SkipTrue: 1},
		bpf.RetConstant{Val: refused},
		bpf.RetConstant{Val: allowCall},
	}
}

// subvolumes are the requests of btrfs that create and delete snapshots and subvolumes, which
// Landlock does not see: a snapshot of a denied directory could be read.
var subvolumes = []uint32{0x50009401, 0x5000940e, 0x5000940f, 0x50009417, 0x50009418, 0x5000943f}

// fileFlags are the requests that change the flags of a file, as chattr does, for which it need not
// be open for writing.
var fileFlags = []uint32{0x40086602, 0x40046602, 0x401c5820}

// tiocLinux is TIOCLINUX, which pastes into a console; TIOCSTI types into a terminal.
const tiocLinux = 0x541c
