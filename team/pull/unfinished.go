package pull

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/filestat"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// fileMode is that of session files, which hold secrets.
const fileMode = 0o600

// unfinished is the hidden file of a pull.
type unfinished struct {
	fs   afero.Fs
	path string
	file afero.File
	w    *bufio.Writer
	sum  shipping.Running // of its body
}

// hidden returns the path of the unfinished file for a name.
func hidden(dir, name string) string { return filepath.Join(dir, "."+name+".tmp") }

// begin opens the unfinished file of a session. If an earlier pull left one with the same head, and with a body that is a
// beginning of the store's, the file is continued behind it.
func (p *Puller) begin(ctx context.Context, r remote, dir, name string, head []byte) (u *unfinished, err error) {
	u = &unfinished{fs: p.fs, path: hidden(dir, name)}
	if err := durable.MakeDirs(p.fs, dir, 0o700); err != nil {
		return nil, diskFault("create", dir, err)
	}
	info, err := p.usable(u.path, filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	flag := os.O_RDWR
	if info == nil {
		flag |= os.O_CREATE | os.O_EXCL
	}
	if u.file, err = p.fs.OpenFile(u.path, flag, fileMode); err != nil {
		return nil, diskFault("create", u.path, err)
	}
	u.w = bufio.NewWriterSize(u.file, 256<<10)
	if info != nil {
		err = u.same(info)
	}
	if err == nil {
		err = u.resume(ctx, p, r, head)
	}
	if err != nil {
		_ = u.file.Close() // the error that matters is returned
		return nil, diskFault("write", u.path, err)
	}
	return u, nil
}

// usable returns the unfinished file at path, nil if there is none. A file that has a second name is not one: a pull was
// interrupted after it had given the file its name. Then this name is removed, as is a file that others may read.
func (p *Puller) usable(path, final string) (os.FileInfo, error) {
	info, err := filestat.Lstat(p.fs, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diskFault("read", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.FileExists, "%s is not a regular file. Remove it and pull the session again.", path).With("path", path)
	}
	open := runtime.GOOS != "windows" && info.Mode().Perm() != fileMode
	if named, err := p.fs.Stat(final); open || linked(info) || err == nil && sameFile(info, named) {
		if err := p.fs.Remove(path); err != nil {
			return nil, diskFault("remove", path, err)
		}
		return nil, nil
	}
	return info, nil
}

// sameFile reports whether two stats are known to be of one file.
func sameFile(a, b os.FileInfo) bool { return a.Sys() != nil && b.Sys() != nil && os.SameFile(a, b) }

// same checks that the open file is the one that was looked at.
func (u *unfinished) same(was os.FileInfo) error {
	info, err := u.file.Stat()
	if err == nil && info.Sys() != nil && was.Sys() != nil && !os.SameFile(info, was) {
		err = fault.New(fault.Stale, "%s changed while it was opened. Pull the session again.", u.path).With("path", u.path)
	}
	return err
}

// resume cuts the file behind the part that can be kept, which is nothing if it is another session's or generation's.
func (u *unfinished) resume(ctx context.Context, p *Puller, r remote, head []byte) error {
	info, err := u.file.Stat()
	if err != nil {
		return err
	}
	var keep int64
	if body := info.Size() - int64(len(head)); body > 0 {
		if keep, err = u.kept(ctx, p, r, head, min(body, r.tip.Len)); err != nil {
			return err
		}
	}
	if keep == 0 {
		u.sum = shipping.Running{}
		if err := u.file.Truncate(0); err != nil {
			return err
		}
		if _, err := u.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		_, err = u.w.Write(head)
		return err
	}
	end := int64(len(head)) + keep
	if err := u.file.Truncate(end); err != nil {
		return err
	}
	_, err = u.file.Seek(end, io.SeekStart)
	return err
}

// kept returns how many bytes of the body can be kept: those up to the last end of a segment, if their checksum is the store's.
func (u *unfinished) kept(ctx context.Context, p *Puller, r remote, head []byte, body int64) (int64, error) {
	first := make([]byte, len(head))
	if _, err := u.file.ReadAt(first, 0); err != nil || !bytes.Equal(first, head) {
		return 0, err
	}
	var end int64
	var sum [32]byte
	err := p.persist(ctx, func() (err error) {
		at, s, err := p.Store.SumAt(ctx, r.sid, r.tip.Gen, body)
		end, sum = at, s
		return err
	})
	if err != nil || end <= 0 || end > body {
		return 0, err
	}
	if err := add(ctx, &u.sum, io.NewSectionReader(u.file, int64(len(head)), end)); err != nil {
		return 0, err
	}
	if u.sum.Point() != (shipping.Point{Len: end, Sum: sum}) {
		return 0, nil
	}
	return end, nil
}

// add adds the bytes of r to a checksum.
func add(ctx context.Context, sum *shipping.Running, r io.Reader) error {
	b := make([]byte, 256<<10)
	for {
		if ctx.Err() != nil {
			return cancelled(ctx)
		}
		n, err := r.Read(b)
		sum.Write(b[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (u *unfinished) write(b []byte) error {
	_, err := u.w.Write(b)
	return diskFault("write", u.path, err)
}

// close writes what is buffered. With whole, the content is durable afterwards.
func (u *unfinished) close(whole bool) error {
	err := u.w.Flush()
	if err == nil && whole {
		err = u.file.Sync()
	}
	return diskFault("write", u.path, errors.Join(err, u.file.Close()))
}

// remove removes the file. It may stay behind after an error, which costs space and nothing else.
func (u *unfinished) remove() { _ = u.fs.Remove(u.path) }
