package regular

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"
)

// pseudo are the types of file systems that have no files of their own: a read is a request to the
// kernel or another program.
var pseudo = map[uint32]string{
	unix.PROC_SUPER_MAGIC: "procfs", unix.SYSFS_MAGIC: "sysfs", unix.DEVPTS_SUPER_MAGIC: "devpts",
	unix.DEBUGFS_MAGIC: "debugfs", unix.TRACEFS_MAGIC: "tracefs", 0x62656570: "configfs",
	unix.CGROUP_SUPER_MAGIC: "cgroup", unix.CGROUP2_SUPER_MAGIC: "cgroup2", unix.RDTGROUP_SUPER_MAGIC: "resctrl",
	unix.SECURITYFS_MAGIC: "securityfs", unix.SELINUX_MAGIC: "selinuxfs", unix.SMACK_MAGIC: "smackfs", 0x5a3c69f0: "apparmorfs",
	unix.BPF_FS_MAGIC: "bpf", unix.EFIVARFS_MAGIC: "efivarfs", unix.PSTOREFS_MAGIC: "pstore", unix.BINFMTFS_MAGIC: "binfmt_misc",
	unix.HUGETLBFS_MAGIC: "hugetlbfs", 0x19800202: "mqueue", 0x65735543: "fusectl", 0x67596969: "rpc_pipefs", 0x6e667364: "nfsd",
	0xa647361: "functionfs", 0xaee71ee7: "gadgetfs", unix.USBDEVICE_SUPER_MAGIC: "usbfs", unix.XENFS_SUPER_MAGIC: "xenfs",
	unix.OPENPROM_SUPER_MAGIC: "openpromfs", unix.BINDERFS_SUPER_MAGIC: "binder", unix.NSFS_MAGIC: "nsfs",
	unix.SOCKFS_MAGIC: "sockfs", unix.PIPEFS_MAGIC: "pipefs", unix.ANON_INODE_FS_MAGIC: "anon_inodefs", unix.BDEVFS_MAGIC: "bdev",
	unix.SECRETMEM_MAGIC: "secretmem", unix.DMA_BUF_MAGIC: "dma_buf", unix.DEVMEM_MAGIC: "devmem",
}

// devices is the device of /dev, which has the type of an ordinary file system in memory. There is
// none if /dev is an ordinary directory.
var devices = sync.OnceValues(func() (dev uint64, ok bool) {
	var d, root unix.Stat_t
	if unix.Stat("/dev", &d) != nil || unix.Stat("/", &root) != nil {
		return 0, false
	}
	return uint64(d.Dev), d.Dev != root.Dev //nolint:unconvert // its type differs between machines
})

// at names the pseudo file system that path is in, with links followed; "" means none.
func at(path string) string {
	var s unix.Statfs_t
	var f unix.Stat_t
	if unix.Statfs(path, &s) != nil || unix.Stat(path, &f) != nil {
		return ""
	}
	return nameOf(&s, &f)
}

// on is at for an open file.
func on(f afero.File) string {
	file, ok := f.(*os.File)
	if !ok {
		return ""
	}
	raw, err := file.SyscallConn()
	if err != nil {
		return ""
	}
	var name string
	_ = raw.Control(func(fd uintptr) { // fails for a closed file only
		var s unix.Statfs_t
		var st unix.Stat_t
		if unix.Fstatfs(int(fd), &s) == nil && unix.Fstat(int(fd), &st) == nil {
			name = nameOf(&s, &st)
		}
	})
	return name
}

func nameOf(s *unix.Statfs_t, f *unix.Stat_t) string {
	if dev, ok := devices(); ok && uint64(f.Dev) == dev { //nolint:unconvert // see devices
		return "/dev"
	}
	return pseudo[uint32(s.Type)] // a type has 32 bits
}

// maxLinks is how many symbolic links a path may follow, as for the kernel.
const maxLinks = 40

// passes names the pseudo file system that contains the target of path or a link on its way:
// /proc/self/root/x is an ordinary file, reached through a pseudo file system.
func passes(path string) string {
	here, rest := "/", strings.Split(path, "/")
	for followed := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			here = filepath.Dir(here)
			continue
		}
		next := filepath.Join(here, name)
		var info unix.Stat_t
		if unix.Lstat(next, &info) != nil {
			return at(here)
		}
		if info.Mode&unix.S_IFMT != unix.S_IFLNK {
			here = next
			continue
		}
		if name := at(here); name != "" && name != "/dev" {
			return name
		}
		to, err := os.Readlink(next)
		if followed++; err != nil || followed > maxLinks {
			return "" // opening it fails, too
		}
		if filepath.IsAbs(to) {
			here = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return at(here)
}

func sameDevice(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, okay := b.Sys().(*syscall.Stat_t)
	return ok && okay && x.Dev == y.Dev
}
