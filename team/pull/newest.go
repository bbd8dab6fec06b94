package pull

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
)

const (
	backTrip = 2 << 20  // bytes of the end that are asked for at once
	backMost = 32 << 20 // bytes that are read before the whole session has to be
)

// Newest returns the newest part of a session of the store for the project's folder cwd, as [session.Store.Newest] does for a file,
// so that a large conversation can be read before it is here. ok is false if the session has to be pulled for that. The bytes
// were not compared with checksums: they are for showing only. The errors are those of [Puller.Pull].
func (p *Puller) Newest(ctx context.Context, sid team.SID, cwd string) (t session.Tail, ok bool, err error) {
	r, err := p.look(ctx, sid)
	if err != nil || r.old() {
		return t, false, err
	}
	to, err := p.target(ctx, r, cwd)
	if err != nil {
		return t, false, err
	}
	remote := &remoteFile{ctx: ctx, p: p, r: r, name: filepath.Join(to.dir, to.name), head: to.head.Raw, from: r.tip.Len}
	config := p.Sessions.StoreConfig
	config.Fs, config.IndexDir = remoteFs{afero.NewReadOnlyFs(afero.NewMemMapFs()), remote}, ""
	t, ok, err = session.NewStore(config).Newest(remote.name, true)
	if remote.err != nil {
		return session.Tail{}, false, remote.err
	}
	if errors.Is(err, errFar) {
		return session.Tail{}, false, nil
	}
	return t, ok, err
}

// errFar means that more than the newest part of a session was asked for.
var errFar = errors.New("too far from the end")

// remoteFs has one file, a session of the store.
type remoteFs struct {
	afero.Fs
	file *remoteFile
}

func (f remoteFs) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

func (f remoteFs) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	if name == f.file.name && flag == os.O_RDONLY {
		return openRemote{f: f.file}, nil
	}
	return f.Fs.OpenFile(name, flag, mode)
}

func (f remoteFs) Stat(name string) (os.FileInfo, error) {
	if name == f.file.name {
		return f.file, nil
	}
	return f.Fs.Stat(name)
}

// remoteFile is a session of the store, of which the end is read as far as it is asked for. It is its own description.
type remoteFile struct {
	ctx  context.Context //nolint:containedctx // of the only call that reads the file
	p    *Puller
	r    remote
	name string
	head []byte

	front []byte // the head and the beginning of the body; nil until it was read

	from  int64    // of the body, from where on it was read
	end   []byte   // the body from there on
	parts [][]byte // of the current round trip, the last one first
	err   error    // of the store
}

func (f *remoteFile) Name() string       { return filepath.Base(f.name) }
func (f *remoteFile) Size() int64        { return int64(len(f.head)) + f.r.tip.Len }
func (f *remoteFile) Mode() fs.FileMode  { return fileMode }
func (f *remoteFile) ModTime() time.Time { return time.Time{} }
func (f *remoteFile) IsDir() bool        { return false }
func (f *remoteFile) Sys() any           { return nil }

// readAt reads the body as far from its end as is allowed, or the head with the first lines, which may be fewer than asked for.
func (f *remoteFile) readAt(b []byte, off int64) (n int, err error) {
	if off < int64(len(f.head)) {
		front, err := f.first(len(b))
		if err != nil {
			return 0, err
		}
		n = copy(b, front[off:])
	} else {
		at := off - int64(len(f.head))
		for at < f.from {
			if err := f.back(); err != nil {
				return 0, err
			}
		}
		n = copy(b, f.end[min(at-f.from, int64(len(f.end))):])
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// first returns the head and the beginning of the body.
func (f *remoteFile) first(most int) ([]byte, error) {
	if f.front != nil {
		return f.front, nil
	}
	var front []byte
	err := f.p.persist(f.ctx, func() error {
		front = bytes.Clone(f.head)
		err := f.p.Store.Read(f.ctx, f.r.sid, f.r.tip.Gen, 0, most, func(s team.Segment) error {
			if len(front) > len(f.head)+most || s.Codec != 0 || s.Off != int64(len(front)-len(f.head)) {
				return errEnough
			}
			front = append(front, s.Bytes...)
			return nil
		})
		if errors.Is(err, errEnough) {
			err = nil
		}
		return err
	})
	f.front, f.err = front, err
	return front, err
}

// back reads the part before the known one.
func (f *remoteFile) back() error {
	if f.r.tip.Len-f.from >= backMost {
		return errFar
	}
	was := f.from
	f.parts = nil
	err := f.p.persist(f.ctx, func() error {
		return f.p.Store.Back(f.ctx, f.r.sid, f.r.tip.Gen, was, backTrip, f.accept)
	})
	slices.Reverse(f.parts)
	f.end = slices.Concat(append(f.parts, f.end)...)
	if err == nil && f.from == was {
		err = errFar // replaced meanwhile, or a hole: pulling finds out
	}
	if err != nil && !errors.Is(err, errFar) {
		f.err = err
	}
	return err
}

// accept takes a segment that ends where the known part begins.
func (f *remoteFile) accept(s team.Segment) error {
	end := f.from - s.Off
	if s.Codec != 0 || end <= 0 || end > int64(len(s.Bytes)) {
		return errFar
	}
	f.parts = append(f.parts, bytes.Clone(s.Bytes[:end]))
	f.from = s.Off
	return nil
}

// openRemote is the open file. Only its reading methods are used; the embedded interface is nil.
type openRemote struct {
	afero.File
	f *remoteFile
}

func (o openRemote) ReadAt(b []byte, off int64) (int, error) { return o.f.readAt(b, off) }
func (o openRemote) Stat() (os.FileInfo, error)              { return o.f, nil }
func (o openRemote) Name() string                            { return o.f.name }
func (o openRemote) Close() error                            { return nil }
