//go:build !linux && !darwin && !freebsd && !windows

package pull

import "os"

// freeSpace is not known on this system.
func freeSpace(string) (int64, bool) { return 0, false }

// linked reports whether a file has more than one name, which is not known here.
func linked(os.FileInfo) bool { return false }
