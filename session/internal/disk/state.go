package disk

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/filestat"
)

// State is the state of a file at one moment. The info alone is not enough: in-memory
// storage returns one that always describes the present.
type State struct {
	Info os.FileInfo
	Size int64
	Mod  time.Time
}

// Same reports whether a and b are the same file, unchanged.
func (a State) Same(b State) bool {
	return SameFile(a.Info, b.Info) && a.Size == b.Size && a.Mod.Equal(b.Mod)
}

// Regular returns the state of the file at path, which must be a regular file and not a
// link: moving a link would leave the file behind.
func Regular(fsys afero.Fs, path string) (State, error) {
	info, err := Lstat(fsys, path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "move", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return State{}, Fault("move", path, err)
	}
	return State{Info: info, Size: info.Size(), Mod: info.ModTime()}, nil
}

// Lstat is [filestat.Lstat].
func Lstat(fsys afero.Fs, path string) (os.FileInfo, error) { return filestat.Lstat(fsys, path) }
