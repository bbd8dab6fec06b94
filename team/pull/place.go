package pull

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxNames is how many names are tried for a file.
const maxNames = 100

// place gives the complete file at temp its name in dir, or the next free one, and makes the name durable. It returns the path.
// Nothing is replaced.
func (p *Puller) place(temp, dir, name string) (path string, err error) {
	for n := 1; n <= maxNames; n++ {
		path = filepath.Join(dir, numbered(name, n))
		err = p.link(temp, path)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return "", fault.New(fault.FileExists, "%s and %d other names exist already. Rename one and pull the session again.", filepath.Join(dir, name), maxNames-1).
			With("path", filepath.Join(dir, name))
	}
	if err != nil {
		return "", diskFault("create", path, err)
	}
	durable.SyncDir(p.fs, dir)
	return path, nil
}

// link moves from to the new name to. It fails with fs.ErrExist if there is a file of that name.
func (p *Puller) link(from, to string) error {
	err := p.hardLink(from, to)
	switch {
	case err == nil:
		_ = p.fs.Remove(from) // a second name that stays is removed by the next pull
		return nil
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EPERM):
		return p.reserve(from, to)
	default:
		return err
	}
}

func (p *Puller) hardLink(from, to string) error {
	if p.Link != nil {
		return p.Link(from, to)
	}
	if _, real := p.fs.(*afero.OsFs); !real {
		return errors.ErrUnsupported
	}
	return os.Link(from, to) //nolint:forbidigo // afero has no hard links; without one the name is reserved
}

// reserve is link where there are no hard links: an empty file takes the name first, and only that file is replaced.
func (p *Puller) reserve(from, to string) error {
	f, err := p.fs.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	ours, err := f.Stat()
	if err = errors.Join(err, f.Close()); err == nil {
		err = p.stillEmpty(to, ours)
	}
	if err == nil {
		err = durable.Rename(p.fs, from, to)
	}
	if err != nil && p.stillEmpty(to, ours) == nil {
		_ = p.fs.Remove(to) // the error that matters is returned
	}
	return err
}

// stillEmpty checks that the file at path is the one of the stat was, without content.
func (p *Puller) stillEmpty(path string, was os.FileInfo) error {
	info, err := p.fs.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > 0 || was != nil && was.Sys() != nil && !sameFile(info, was) {
		return fault.New(fault.Stale, "%s was written by another program meanwhile; it stays as it is. Pull the session again.", path).With("path", path)
	}
	return nil
}
