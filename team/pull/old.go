package pull

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// current is in the name of the hidden file of a converted session.
const current = ".current"

// versionNow returns the head of a session of an old format with the version of its body. A pull that was killed may have replaced
// the body of version 1 and not the head. The body then has ids, and they stay.
func (p *Puller) versionNow(ctx context.Context, r remote, head shipping.Head) (shipping.Head, error) {
	if head.Header().Version >= 2 {
		return head, nil
	}
	var first []byte
	err := p.persist(ctx, func() error {
		return p.Store.Read(ctx, r.sid, r.tip.Gen, 0, 1, func(s team.Segment) error {
			if first == nil {
				first = bytes.Clone(s.Bytes)
			}
			return nil
		})
	})
	if err != nil || !hasIDs(first) {
		return head, err
	}
	return withVersion(head, "2")
}

// hasIDs reports whether the first entry has an id and a parent.
func hasIDs(lines []byte) bool {
	for line := range bytes.Lines(lines) {
		if line = bytes.TrimSpace(line); rawjson.Valid(line) && rawjson.Kind(line) == '{' {
			return rawjson.Get(line, "id") != nil && rawjson.Get(line, "parentId") != nil
		}
	}
	return false
}

// convert writes the session at path in the current format to another hidden file, whose path it returns, and makes its body the next
// generation in the store. The ids of version 1 follow from the place, so that every machine makes the same ones; a program that finds
// an old format makes random ones.
func (p *Puller) convert(ctx context.Context, r remote, t target, path string) (string, error) {
	temp := hidden(t.dir, t.name+current)
	if err := p.rewrite(path, temp); err != nil {
		return "", diskFault("write", temp, err)
	}
	if t.fork { // its ids follow from its own id
		return temp, nil
	}
	if err := p.replace(ctx, r, temp); err != nil {
		_ = p.fs.Remove(temp) // it is made again
		return "", err
	}
	return temp, nil
}

// rewrite writes the session at path to the new file temp in the current format. An existing temp is removed first.
func (p *Puller) rewrite(path, temp string) (err error) {
	doc, err := p.Sessions.Load(path)
	if err != nil {
		return session.Closing(err, doc)
	}
	defer func() { err = session.Closing(err, doc) }()
	if err := p.fs.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := p.fs.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 256<<10)
	err = doc.WriteCurrent(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = p.fs.Remove(temp) // the error that matters is returned
	}
	return err
}

// replace makes the body of the file at path the next generation, under the lease, and the version of the head the current
// one. A user who may not write keeps the file alone.
func (p *Puller) replace(ctx context.Context, r remote, path string) (err error) {
	f, err := p.fs.Open(path)
	if err != nil {
		return diskFault("read", path, err)
	}
	defer func() { err = errors.Join(err, diskFault("read", path, f.Close())) }()
	head, err := shipping.ReadHead(io.NewSectionReader(f, 0, 1<<20))
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return diskFault("read", path, err)
	}
	body := io.NewSectionReader(f, head.Len(), info.Size()-head.Len())
	var lease team.Tip
	if err := p.persist(ctx, func() (err error) {
		lease, err = p.Store.Lease(ctx, r.sid, false)
		return err
	}); err != nil {
		return err
	}
	switch lease.Code {
	case team.OK:
	case team.Gone:
		return nil
	default:
		return fault.New(fault.Busy, "The session %s is of an old format, and another device writes in it. Pull it when that ends.", r.sid)
	}
	defer func() {
		_ = p.Store.Release(context.WithoutCancel(ctx), r.sid, lease.Fence) // else it ends after 30 seconds
	}()
	g := generation{p: p, r: r, fence: lease.Fence}
	if err := g.publish(ctx, body); err != nil {
		return err
	}
	return g.setHead(ctx, path)
}

// generation is a body on its way to replace that of a session.
type generation struct {
	p     *Puller
	r     remote
	fence int64
}

// publish stages the body and replaces the store's, unless they are equal.
func (g *generation) publish(ctx context.Context, body *io.SectionReader) error {
	var sum shipping.Running
	if err := add(ctx, &sum, body); err != nil {
		return err
	}
	whole := sum.Point()
	if whole.Len == g.r.tip.Len && whole.Sum == g.r.tip.Sum {
		return nil
	}
	if err := g.stage(ctx, body); err != nil {
		return err
	}
	var t team.Tip
	err := g.p.persist(ctx, func() (err error) {
		t, err = g.p.Store.Publish(ctx, team.Publish{
			SID: g.r.sid, WasGen: g.r.tip.Gen, WasLen: g.r.tip.Len, WasSum: g.r.tip.Sum,
			Gen: g.r.tip.Gen + 1, Len: whole.Len, Sum: whole.Sum, Fence: g.fence,
		})
		return err
	})
	switch {
	case err != nil:
		return err
	case t.Code == team.OK || t.Code == team.Same:
		return nil
	case t.Code == team.Gone:
		return team.NoSession(g.r.sid)
	}
	return errReplaced
}

// stage sends the pieces of the body.
func (g *generation) stage(ctx context.Context, body *io.SectionReader) error {
	var sum shipping.Running
	for sum.Point().Len < body.Size() {
		was := sum.Point()
		piece, err := shipping.Lines(body, was.Len, 1<<20, nil)
		if err != nil {
			return err
		}
		if piece == nil { // the end of a body without a newline
			piece = make([]byte, body.Size()-was.Len)
			if _, err := body.ReadAt(piece, was.Len); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
		}
		sum.Write(piece)
		err = g.p.persist(ctx, func() error {
			return g.p.Store.Stage(ctx, team.Stage{
				SID: g.r.sid, Gen: g.r.tip.Gen + 1, Off: was.Len, Was: was.Sum, Bytes: piece, Sum: sum.Point().Sum,
			})
		})
		if fault.Is(err, fault.Stale) {
			return errReplaced
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setHead gives the head in the store the current version, and repeats the contents of lists, which belong to the head.
func (g *generation) setHead(ctx context.Context, path string) error {
	head, err := withVersion(g.r.at, strconv.Itoa(session.CurrentVersion))
	if err != nil {
		return err
	}
	info, err := g.p.Library.Describe(path)
	if err != nil {
		return err
	}
	cost, err := g.p.cost(path)
	if err != nil {
		return err
	}
	err = g.p.persist(ctx, func() error {
		_, err := g.p.Store.SetHead(ctx, g.r.sid, team.Head{
			Bytes: head.Raw, Rev: g.r.head.Rev,
			Title: info.Title, FirstPrompt: info.FirstMessage, Messages: info.MessageCount, Cost: cost,
		})
		return err
	})
	if fault.Is(err, fault.Stale) {
		return nil // another device did it, or an answer was lost
	}
	return err
}

// cost returns what the answers of a session cost, in US dollars.
func (p *Puller) cost(path string) (cost float64, err error) {
	doc, err := p.Sessions.Load(path)
	if err == nil {
		var usage session.Usage
		usage, err = doc.Usage()
		cost = usage.Cost
	}
	return cost, session.Closing(err, doc)
}
