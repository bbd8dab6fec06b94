//go:build linux || darwin

package dirlist

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"
	"golang.org/x/sys/unix"
)

// staterOf returns the stater for n files of an open directory. Only of the machine's own file
// system is it certain that nothing lies between the names and the files; elsewhere it is slow.
func staterOf(fsys afero.Fs, dir afero.File, n int, slow stater) stater {
	_, local := fsys.(*afero.OsFs)
	open, plain := dir.(*os.File)
	if !local || !plain {
		return slow
	}
	fd, infos := int(open.Fd()), make([]info, 0, n) // #nosec G115 -- descriptors are small
	return func(name string) (os.FileInfo, bool) {
		var s unix.Stat_t
		err := unix.Fstatat(fd, name, &s, unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, false
		case err != nil:
			return slow(name) // an interruption, or a file system with limits of its own
		case s.Mode&unix.S_IFMT != unix.S_IFREG:
			return nil, false
		}
		infos = append(infos, info{
			name: name, size: s.Size, perm: fs.FileMode(s.Mode) & fs.ModePerm,
			mod: time.Unix(s.Mtim.Unix()), ctime: s.Ctim.Nano(), inode: s.Ino,
		})
		return &infos[len(infos)-1], true
	}
}

// info describes a regular file.
type info struct {
	name  string
	size  int64
	mod   time.Time
	ctime int64
	inode uint64
	perm  fs.FileMode
}

func (i *info) Name() string       { return i.name }
func (i *info) Size() int64        { return i.size }
func (i *info) Mode() fs.FileMode  { return i.perm }
func (i *info) ModTime() time.Time { return i.mod }
func (i *info) IsDir() bool        { return false }

// Sys returns i itself: see [info.InodeAndChange].
func (i *info) Sys() any { return i }

// InodeAndChange returns the file's number and the time of its last change of any kind, in
// nanoseconds. The stamp of a file is made of them.
func (i *info) InodeAndChange() (inode uint64, ctime int64) { return i.inode, i.ctime }
