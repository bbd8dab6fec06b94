//go:build unix

package script

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

func isBusy(err error) bool { return errors.Is(err, syscall.ETXTBSY) }

func isExecutable(_ string, info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }

// trusted fails for a file that another user could have changed.
func trusted(path string, info fs.FileInfo) error {
	const others = 0o022
	if info.Mode()&others != 0 {
		return fmt.Errorf("other users can write to %s; remove the permission with: chmod go-w '%s'", path, path)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user", path)
	}
	return nil
}
