//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// call is a system call as a filter sees it.
type call struct {
	arch, nr uint32
	args     [6]uint64
}

// answer runs the filter in memory. The virtual machine reads big-endian words, so that the data
// is laid out that way.
func (c call) answer(t *testing.T, p Policy, truncate bool) uint32 {
	t.Helper()
	vm, err := bpf.NewVM(p.filter(auditArch, truncate))
	require.NoError(t, err)
	data := make([]byte, offArgs+8*len(c.args))
	binary.BigEndian.PutUint32(data[offNumber:], c.nr)
	binary.BigEndian.PutUint32(data[offArch:], c.arch)
	for i, arg := range c.args {
		binary.BigEndian.PutUint32(data[argument(i):], uint32(arg))
		binary.BigEndian.PutUint32(data[argument(i)+4:], uint32(arg>>32))
	}
	n, err := vm.Run(data)
	require.NoError(t, err)
	return uint32(n)
}

func TestFilter(t *testing.T) {
	t.Parallel()
	if auditArch == 0 {
		t.Skip("there is no filter for this processor")
	}
	const high = 1 << 32 // the kernel ignores it in an int
	strict, standard := Policy{Level: Strict}, Policy{Level: Standard, Network: true}
	open := Policy{Level: Standard, Network: true, UnixSockets: true}
	for _, c := range []struct {
		name     string
		p        Policy
		nr       uint32
		args     [6]uint64
		truncate bool
		want     uint32
	}{
		{name: "read", p: strict, nr: unix.SYS_READ, want: allowCall},
		{name: "socket", p: strict, nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_INET}, want: refused},
		{name: "local socket", p: strict, nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_UNIX}, want: refused},
		{name: "internet", p: standard, nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_INET6}, want: allowCall},
		{name: "local", p: standard, nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_UNIX}, want: refused},
		{name: "local with a high half", p: standard, nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_UNIX | high}, want: refused},
		{name: "packet", p: open, nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_PACKET}, want: refused},
		{name: "local by rule", p: open, nr: unix.SYS_SOCKET, args: [6]uint64{unix.AF_UNIX}, want: allowCall},
		{name: "pair", p: strict, nr: unix.SYS_SOCKETPAIR, args: [6]uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, want: allowCall},
		{name: "pair of datagrams", p: standard, nr: unix.SYS_SOCKETPAIR, args: [6]uint64{unix.AF_UNIX, unix.SOCK_DGRAM | unix.SOCK_CLOEXEC}, want: refused},
		{name: "typing", p: standard, nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TIOCSTI}, want: refused},
		{name: "typing with a high half", p: standard, nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TIOCSTI | high}, want: refused},
		{name: "ioctl", p: strict, nr: unix.SYS_IOCTL, args: [6]uint64{0, unix.TCGETS}, want: allowCall},
		{name: "fork", p: strict, nr: unix.SYS_CLONE, args: [6]uint64{uint64(unix.SIGCHLD)}, want: allowCall},
		{name: "user namespace", p: standard, nr: unix.SYS_CLONE, args: [6]uint64{unix.CLONE_NEWUSER | high}, want: refused},
		{name: "unshare", p: standard, nr: unix.SYS_UNSHARE, args: [6]uint64{unix.CLONE_NEWUSER | unix.CLONE_NEWNS}, want: refused},
		{name: "clone3", p: standard, nr: unix.SYS_CLONE3, want: absent},
		{name: "io_uring", p: standard, nr: unix.SYS_IO_URING_SETUP, want: absent},
		{name: "mode", p: strict, nr: unix.SYS_FCHMODAT, want: refused},
		{name: "mode for a build", p: standard, nr: unix.SYS_FCHMODAT, want: allowCall},
		{name: "emptying by path", p: standard, nr: unix.SYS_TRUNCATE, truncate: true, want: refused},
		{name: "emptying what is read", p: standard, nr: unix.SYS_OPENAT, args: [6]uint64{0, 0, unix.O_TRUNC | unix.O_CLOEXEC}, truncate: true, want: refused},
		{name: "emptying what is written", p: standard, nr: unix.SYS_OPENAT, args: [6]uint64{0, 0, unix.O_TRUNC | unix.O_WRONLY}, truncate: true, want: allowCall},
		{name: "emptying is Landlock's", p: standard, nr: unix.SYS_TRUNCATE, want: allowCall},
	} {
		require.Equal(t, c.want, call{auditArch, c.nr, c.args}.answer(t, c.p, c.truncate), c.name)
	}
	require.EqualValues(t, killed, call{arch: unix.AUDIT_ARCH_I386, nr: 102}.answer(t, standard, false), "another form of system calls")
	if foreignCalls != 0xffffffff {
		require.EqualValues(t, killed, call{arch: auditArch, nr: foreignCalls + unix.SYS_SOCKET}.answer(t, standard, false))
	}
}
