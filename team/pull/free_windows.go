package pull

import (
	"os"

	"golang.org/x/sys/windows"
)

// freeSpace returns the bytes that this user can still write in dir.
func freeSpace(dir string) (int64, bool) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return 0, false
	}
	return int64(free), true
}

// linked reports whether a file has more than one name, which is not known here.
func linked(os.FileInfo) bool { return false }
