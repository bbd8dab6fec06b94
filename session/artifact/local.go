package artifact

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// localDir is the directory within that of the artifacts whose files the programs call
// local://name.
const localDir = "local"

// Path returns the path of an artifact, by its ID or name; see [Dir.Read].
func (d Dir) Path(id string) (string, error) {
	a, err := d.find(id)
	if err != nil {
		return "", err
	}
	dir, _ := d.path()
	return filepath.Join(dir, a.Name), nil
}

// Local returns the path of the file that the programs call local://name in the session. The
// file need not exist. The error is of kind invalidArgument if name is not a single
// plain file name, and of kind outsideRoot if a link is on the path: a session file from another
// user may come with such a directory.
func (d Dir) Local(name string) (string, error) {
	dir, ok := d.path()
	if !ok {
		return "", fault.New(fault.NotPersistent, "The session has no directory for local://%s.", fault.OneLine(name))
	}
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\:\x00") {
		return "", fault.New(fault.InvalidArgument, "local://%s is not a plain name.", fault.OneLine(name)).With("field", "path")
	}
	file := filepath.Join(dir, localDir, name)
	for _, p := range []string{dir, filepath.Join(dir, localDir), file} {
		info, err := disk.Lstat(d.Fs, p)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return file, nil
		case err != nil:
			return "", disk.Fault("read", p, err)
		case p == file && !info.Mode().IsRegular(), p != file && !info.IsDir():
			return "", fault.New(fault.OutsideRoot, "%s is a link or a special file, which local:// does not follow.", p).With("path", p)
		}
	}
	return file, nil
}
