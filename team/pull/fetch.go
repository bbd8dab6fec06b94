package pull

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

const (
	trip     = 4 << 20  // bytes of a round trip
	leastTry = 64 << 10 // bytes of a round trip over a connection that breaks

	firstPause = 20 * time.Millisecond // before a call is repeated; doubled each time
	lastPause  = 2 * time.Second
	maxBreaks  = 10 // calls that fail in succession without any progress
)

// fetch reads a body from a point on.
type fetch struct {
	p     *Puller
	r     remote
	sum   shipping.Running       // of the body so far
	write func(b []byte) error   // takes verified bytes
	fate  string                 // of these bytes when the store turns out to be damaged; "" is that nothing was written
	step  func(done int64) error // called after each round trip; may be nil
}

// errEnough ends a call of Read.
var errEnough = errors.New("enough")

// run reads to the end of the body as it was in r, or farther. Every segment is compared with its checksum before it is written.
//
// The error is of kind damaged for a hole, or for another checksum, with the offset in the data; of kind offline after
// some attempts without progress; errReplaced; that of ctx, or that of write or step.
func (f *fetch) run(ctx context.Context) error {
	t, most := &tries{p: f.p}, trip
	for f.at() < f.r.tip.Len {
		before := f.at()
		err := f.p.Store.Read(ctx, f.r.sid, f.r.tip.Gen, before, most, f.accept)
		moved := f.at() > before
		switch {
		case err == nil || errors.Is(err, errEnough):
			if !moved {
				return f.stuck(ctx)
			}
			most = min(2*most, trip)
		case !fault.Is(err, fault.Offline):
			return err
		default:
			most = max(most/2, leastTry)
		}
		if f.step != nil && moved {
			if err := f.step(f.at()); err != nil {
				return err
			}
		}
		if err := t.after(ctx, err, moved); err != nil {
			return err
		}
	}
	if p := f.sum.Point(); p.Len == f.r.tip.Len && p.Sum != f.r.tip.Sum {
		return f.damaged(p.Len)
	}
	return nil
}

func (f *fetch) at() int64 { return f.sum.Point().Len }

// accept takes one segment.
func (f *fetch) accept(s team.Segment) error {
	at := f.at()
	if at >= f.r.tip.Len {
		return errEnough
	}
	if s.Codec != 0 {
		return fault.New(fault.NewerVersion, "The session %s is stored in a form that this version cannot read. Update xcsh-ls.", f.r.sid)
	}
	skip := at - s.Off
	switch {
	case skip < 0:
		return f.damaged(at)
	case skip >= int64(len(s.Bytes)):
		return nil // read already, by an answer that broke
	}
	sum := f.sum.Clone()
	sum.Write(s.Bytes[skip:])
	if sum.Point().Sum != s.Sum {
		return f.damaged(at)
	}
	if err := f.write(s.Bytes[skip:]); err != nil {
		return err
	}
	f.sum = sum
	return nil
}

// stuck returns the reason why the store has no bytes behind the point, although the body is longer.
func (f *fetch) stuck(ctx context.Context) error {
	now, err := f.p.tip(ctx, f.r.sid)
	switch {
	case err != nil:
		return err
	case now.Gen != f.r.tip.Gen || now.Len < f.r.tip.Len:
		return errReplaced
	}
	return f.damaged(f.at())
}

func (f *fetch) damaged(at int64) error { return damaged(f.r.sid, at, cmp.Or(f.fate, nothing)) }

const nothing = "nothing was written"

// damaged returns the error for a body that does not have the checksum that the store says. fate is what became of the bytes before.
func damaged(sid team.SID, at int64, fate string) error {
	return fault.New(fault.Damaged, "The store's copy of %s does not add up at byte %s; %s. The copy on the device that wrote it may be whole.",
		sid, grouped(at), fate).With("offset", at)
}

// tries counts calls that fail while the store cannot be reached.
type tries struct {
	p    *Puller
	n    int
	long time.Duration
}

// after waits before the next call. err is the result of the last one. It is returned if it cannot pass, or did not for too long.
func (t *tries) after(ctx context.Context, err error, moved bool) error {
	if err == nil || errors.Is(err, errEnough) || moved {
		*t = tries{p: t.p}
	}
	if err == nil || errors.Is(err, errEnough) {
		return nil
	}
	if t.n++; !fault.Is(err, fault.Offline) || t.n >= maxBreaks {
		return err
	}
	t.long = min(max(2*t.long, firstPause), lastPause)
	return wait(ctx, t.p.After, t.long/2+rand.N(t.long/2))
}

// persist repeats a call to the store while the store cannot be reached, for some time.
func (p *Puller) persist(ctx context.Context, call func() error) error {
	for t := (tries{p: p}); ; {
		err := call()
		if err == nil {
			return nil
		}
		if err := t.after(ctx, err, false); err != nil {
			return err
		}
	}
}
