package disk

import (
	"cmp"
	"errors"
	"syscall"

	"github.com/spf13/afero"
)

// SyncData makes the data written to f durable, its new size included, but not its times:
// those are half the work of a Sync, and nothing here depends on them.
func SyncData(f afero.File) error {
	c, ok := f.(syscall.Conn)
	if !ok {
		return f.Sync()
	}
	conn, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		for failed = syscall.EINTR; errors.Is(failed, syscall.EINTR); {
			failed = syscall.Fdatasync(int(fd))
		}
	})
	return cmp.Or(err, failed)
}
