package session

import (
	"cmp"
	"errors"
	"syscall"

	"github.com/spf13/afero"
)

// syncData makes what was written to f durable, its new size included, but not its
// times: that is half the work of a Sync, for nothing that anybody misses.
func syncData(f afero.File) error {
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
