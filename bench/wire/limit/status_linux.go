package limit

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Status reads every directory below the roots and the status of every file in it.
func Status(roots []string) (files int, took time.Duration, err error) {
	start := time.Now()
	b := make([]byte, 64<<10)
	dirs := append([]string(nil), roots...)
	for len(dirs) > 0 {
		dir := dirs[len(dirs)-1]
		more, n, err := statusIn(dir, b)
		if err != nil {
			return files, time.Since(start), err
		}
		files += n
		dirs = append(dirs[:len(dirs)-1], more...)
	}
	return files, time.Since(start), nil
}

// statusIn handles one directory with getdents64 and statx.
func statusIn(dir string, b []byte) (dirs []string, files int, err error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	var status unix.Statx_t
	for {
		n, err := unix.Getdents(fd, b)
		if n == 0 || err != nil {
			return dirs, files, err
		}
		for rest := b[:n]; len(rest) > 0; {
			name, kind, length := entry(rest)
			rest = rest[length:]
			switch {
			case name == "." || name == "..":
			case kind == unix.DT_DIR:
				dirs = append(dirs, filepath.Join(dir, name))
			default:
				if err := unix.Statx(fd, name, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &status); err != nil {
					return dirs, files, err
				}
				files++
			}
		}
	}
}

// entry decodes the first linux_dirent64 of b. The name is valid until b changes.
func entry(b []byte) (name string, kind byte, length int) {
	const lengthAt, kindAt, nameAt = 16, 18, 19
	length, kind = int(binary.NativeEndian.Uint16(b[lengthAt:])), b[kindAt]
	end := nameAt
	for b[end] != 0 {
		end++
	}
	return unsafe.String(&b[nameAt], end-nameAt), kind, length
}
