package history

import (
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"
)

// networkTypes are the file systems on which locks do not hold, or memory is not shared, by
// the result of statfs.
var networkTypes = map[uint32]bool{
	unix.NFS_SUPER_MAGIC: true, unix.SMB_SUPER_MAGIC: true, unix.CIFS_SUPER_MAGIC: true, unix.SMB2_SUPER_MAGIC: true,
	unix.V9FS_MAGIC: true, unix.AFS_SUPER_MAGIC: true, unix.CODA_SUPER_MAGIC: true, 0x00C36400: true, // ceph
}

// network reports whether dir, or the directory in which it will be made, is on a network file
// system.
func network(dir string) bool {
	var stat unix.Statfs_t
	for unix.Statfs(dir, &stat) != nil {
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
	if uint32(stat.Type) == unix.FUSE_SUPER_MAGIC { //nolint:unconvert // of another type on other processors
		return strings.HasPrefix(mountType(dir), "fuse.sshfs")
	}
	return networkTypes[uint32(stat.Type)]
}

// mountType is the type of the mount that dir is in, "" if it is unknown.
func mountType(dir string) (kind string) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	mounts, err := afero.ReadFile(afero.NewOsFs(), "/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	longest := 0
	for line := range strings.Lines(string(mounts)) {
		// See proc_pid_mountinfo(5): the mount point is the fifth field, the type the first after " - ".
		before, behind, ok := strings.Cut(line, " - ")
		fields, types := strings.Fields(before), strings.Fields(behind)
		if !ok || len(fields) < 5 || len(types) == 0 {
			continue
		}
		point := strings.TrimSuffix(fields[4], "/")
		if len(point) >= longest && (dir == point || strings.HasPrefix(dir, point+"/")) {
			longest, kind = len(point), types[0]
		}
	}
	return kind
}
