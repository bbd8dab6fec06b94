package pull

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// Rest appends to the session file at path the lines of the store that are missing in it, and returns their number of bytes. The
// file has to be a beginning of the session in the store, by the rules by which it was sent. A file that is ahead of the store
// stays as it is.
//
// Nothing is appended while a server on this machine has the session open, or while another program appends: Rest then returns a Busy
// error. It returns a Conflict error if the file is no beginning, a Stale error if it changed meanwhile, and otherwise the errors of
// [Puller.Pull]. After an error the file is still a beginning.
func (p *Puller) Rest(ctx context.Context, sid team.SID, path string, progress Progress) (n int64, err error) {
	err = retried(sid, func() error {
		r, err := p.look(ctx, sid)
		if err != nil {
			return err
		}
		more, err := p.rest(ctx, r, path, progress)
		n += more
		return err
	})
	return n, err
}

func (p *Puller) rest(ctx context.Context, r remote, path string, progress Progress) (n int64, err error) {
	if p.Sessions.RealPath != nil { // the lock is that of the file, and not of a link to it
		if path, err = p.Sessions.RealPath(path); err != nil {
			return 0, diskFault("read", path, err)
		}
	}
	f, err := p.fs.Open(path)
	if err != nil {
		return 0, diskFault("read", path, err)
	}
	b, err := p.compare(ctx, r, path, f)
	err = errors.Join(err, f.Close())
	if err != nil {
		return 0, diskFault("read", path, err)
	}
	if b.ahead || b.sum.Point().Len == r.tip.Len {
		return 0, nil
	}
	if err := p.space(filepath.Dir(path), r.tip.Len-b.sum.Point().Len); err != nil {
		return 0, err
	}
	release, err := p.own(b.id, path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, release()) }()
	get := &fetch{p: p, r: r, sum: b.sum, write: b.append, fate: "the lines before it were appended", step: func(done int64) error {
		progress.step(done, max(done, r.tip.Len))
		return b.flush()
	}}
	err = get.run(ctx)
	err = errors.Join(err, b.flush())
	return b.n, err
}

// own takes the lock of a session that is open for writing, so that no server of this machine has it.
func (p *Puller) own(id, path string) (release func() error, err error) {
	if p.Sessions.LockDir == "" {
		return func() error { return nil }, nil
	}
	var s *lock.Session
	if s, err = p.Sessions.Locks.OpenSession(p.Sessions.LockDir, id, path); err != nil {
		return nil, err
	}
	return s.Release, nil
}

// beginning is a file that is a beginning of a session in the store.
type beginning struct {
	p    *Puller
	r    remote
	path string
	id   string // in the header of the file
	was  os.FileInfo
	size int64            // of the file
	sum  shipping.Running // of its whole lines, as they were sent
	torn []byte           // the incomplete line at the end

	ahead bool // the store's body is a beginning of the file

	pending []byte
	n       int64 // bytes that were appended
}

// compare reads the file and checks that it is a beginning, or that the store's body is a beginning of the file.
func (p *Puller) compare(ctx context.Context, r remote, path string, f afero.File) (b *beginning, err error) {
	b = &beginning{p: p, r: r, path: path}
	if b.was, err = f.Stat(); err != nil {
		return nil, err
	}
	b.size = b.was.Size()
	head, err := shipping.ReadHead(io.NewSectionReader(f, 0, b.size))
	if err != nil {
		return nil, err
	}
	body := io.NewSectionReader(f, head.Len(), b.size-head.Len())
	b.id = head.Header().ID
	if b.ahead, err = b.read(ctx, body); b.ahead || err != nil {
		return b, err
	}
	return b, b.check(ctx)
}

// read sums the lines as they were sent. ahead reports that the store's body ends within them.
func (b *beginning) read(ctx context.Context, body *io.SectionReader) (ahead bool, err error) {
	o := shipping.NewOutgoing(b.p.Rules)
	var buf []byte
	for {
		if ctx.Err() != nil {
			return false, cancelled(ctx)
		}
		lines, err := shipping.Lines(body, o.File().Len, 1<<20, buf)
		if err != nil {
			return false, err
		}
		if lines == nil {
			break
		}
		batch := o.Batch(lines)
		if batch.To.Len > b.r.tip.Len {
			return true, b.checkAhead(ctx, body)
		}
		b.sum.Write(batch.Bytes)
		o.Sent(batch)
		buf = lines[:0:cap(lines)]
	}
	at := o.File().Len
	b.torn = make([]byte, body.Size()-at)
	if _, err := body.ReadAt(b.torn, at); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return false, nil
}

// checkAhead checks that the store's body is a beginning of a file that is longer.
func (b *beginning) checkAhead(ctx context.Context, body *io.SectionReader) error {
	_, _ = body.Seek(0, io.SeekStart) // cannot fail
	o, fits, err := shipping.CatchUp(ctx, body, b.p.Rules, b.r.tip.Len)
	if err == nil && (!fits || o.Out() != (shipping.Point{Len: b.r.tip.Len, Sum: b.r.tip.Sum})) {
		err = b.differs()
	}
	return err
}

// check compares the sum of the lines with the store's. Where no segment ends behind them, the segment that contains the end is
// compared when it is read.
func (b *beginning) check(ctx context.Context) error {
	at := b.sum.Point()
	var end int64
	var sum team.Sum
	err := b.p.persist(ctx, func() (err error) {
		end, sum, err = b.p.Store.SumAt(ctx, b.r.sid, b.r.tip.Gen, at.Len)
		return err
	})
	if err != nil || end == at.Len && sum == at.Sum {
		return err
	}
	if end == at.Len {
		return b.differs()
	}
	return b.within(ctx, at)
}

// within checks that the segment that contains the end of the lines continues them.
func (b *beginning) within(ctx context.Context, at shipping.Point) error {
	return b.p.persist(ctx, func() error {
		err := b.p.Store.Read(ctx, b.r.sid, b.r.tip.Gen, at.Len, 1, func(s team.Segment) error {
			skip := at.Len - s.Off
			if skip < 0 || skip > int64(len(s.Bytes)) {
				return damaged(b.r.sid, at.Len, nothing)
			}
			sum := b.sum.Clone()
			sum.Write(s.Bytes[skip:])
			if sum.Point().Sum != s.Sum {
				return b.differs()
			}
			return errEnough
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		return err
	})
}

func (b *beginning) differs() error {
	return fault.New(fault.Conflict, "%s and the session %s in the team store continue differently; neither was changed.", b.path, b.r.sid).
		With("path", b.path)
}

// append takes verified bytes of the store. The incomplete line at the end of the file is the beginning of the first ones.
func (b *beginning) append(bytesOfStore []byte) error {
	known := min(len(b.torn), len(bytesOfStore))
	if !bytes.Equal(b.torn[:known], bytesOfStore[:known]) {
		return b.differs()
	}
	b.torn = b.torn[known:]
	b.pending = append(b.pending, bytesOfStore[known:]...)
	return nil
}

// flush appends the pending bytes under the publish lock, if the file is still the one that was compared.
func (b *beginning) flush() (err error) {
	lines := b.pending
	b.pending = nil // also after an error, which ends the pull
	if len(lines) == 0 {
		return nil
	}
	unlock, err := b.p.Sessions.Locks.Publish(b.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	info, err := b.p.fs.Stat(b.path)
	if err != nil {
		return diskFault("write", b.path, err)
	}
	if info.Size() != b.size || info.Sys() != nil && b.was.Sys() != nil && !os.SameFile(info, b.was) {
		return fault.New(fault.Stale, "%s changed while the missing lines were brought. Pull the session again.", b.path).With("path", b.path)
	}
	if err := b.write(lines); err != nil {
		return diskFault("write", b.path, err)
	}
	b.size += int64(len(lines))
	b.n += int64(len(lines))
	return nil
}

// write appends the lines. After an error the file has its former size, unless another program appended, too.
func (b *beginning) write(lines []byte) error {
	f, err := b.p.fs.OpenFile(b.path, os.O_WRONLY|os.O_APPEND, fileMode)
	if err != nil {
		return err
	}
	n, err := f.Write(lines)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		if info, statErr := f.Stat(); statErr == nil && info.Size() == b.size+int64(n) {
			_ = f.Truncate(b.size) // else the file ends with an incomplete line, which the next pull completes
		}
	}
	return errors.Join(err, f.Close())
}
