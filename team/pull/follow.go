package pull

import (
	"context"
	"errors"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

const (
	pollTime   = 500 * time.Millisecond // between questions for the length of a session that is shown, without notifications
	safetyTime = 10 * time.Second       // the same with notifications, of which some may be lost
	heardTime  = time.Minute            // between the calls that make writers notify
)

// Following follows sessions of one store over one connection that listens for notifications. While that is not possible it asks for
// the lengths. It is safe for concurrent use.
type Following struct {
	p   *Puller
	ear ear
}

// NewFollowing returns a Following. It listens while a session is followed. A store that has too many listeners already is only
// asked.
func NewFollowing(p *Puller, onlyAsk bool) *Following {
	f := &Following{p: p}
	f.ear = ear{p: p, off: onlyAsk, followers: map[*follower]struct{}{}}
	return f
}

// follower is one call of Follow. wake has a value when the session may have changed.
type follower struct {
	sid  team.SID
	wake chan struct{}
}

func (f *follower) poke() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Follow passes the body of a session to got, from its beginning and then as it grows, until ctx ends. Each call of got has the
// whole bytes of some segments, whose checksums were compared; got(nil) says that the body was replaced, and that the next bytes
// are again from the beginning. got is called from one goroutine and must not keep the bytes.
//
// The error is of kind cancelled when ctx ended, of kind notFound when the session was deleted or hidden, of kind damaged for bytes
// that were not sent, or refused, denied or internal from the store. While the store cannot be reached Follow waits.
func (f *Following) Follow(ctx context.Context, sid team.SID, got func([]byte)) error {
	var at reading
	return f.follow(ctx, sid, func(ctx context.Context, tip team.Tip) error {
		return at.read(ctx, f.p, remote{sid: sid, tip: tip}, got)
	})
}

// FollowFile appends to the session file at path what arrives in the store, as [Puller.Rest] does, until ctx ends. It waits
// while a server of this machine has the session open. changed is called with the number of bytes that were appended. The error is
// that of [Following.Follow] or of [Puller.Rest]; of kind conflict, also when the body was replaced.
func (f *Following) FollowFile(ctx context.Context, sid team.SID, path string, changed func(n int64)) error {
	return f.follow(ctx, sid, func(ctx context.Context, _ team.Tip) error {
		n, err := f.p.Rest(ctx, sid, path, nil)
		if n > 0 {
			changed(n)
		}
		if fault.Is(err, fault.Busy) || fault.Is(err, fault.Stale) {
			return errLater
		}
		return err
	})
}

// errLater means that a session is to be looked at again after some time, although it did not change.
var errLater = errors.New("later")

// reading is how far a session was read.
type reading struct {
	gen int
	sum shipping.Running
}

// read passes on what is new in the body. A body that was replaced, also in the meantime, is read again.
func (a *reading) read(ctx context.Context, p *Puller, r remote, got func([]byte)) error {
	if a.gen != 0 && (a.gen != r.tip.Gen || a.sum.Point().Len > r.tip.Len) {
		a.restart(got)
	}
	a.gen = r.tip.Gen
	from := a.sum.Point().Len
	err := a.more(ctx, p, r, got)
	if fault.Is(err, fault.Damaged) && from > 0 && a.sum.Point().Len == from {
		// A backup that was restored may have other bytes in the same generation. If this is no such, the error comes again.
		a.restart(got)
		err = a.more(ctx, p, r, got)
	}
	if errors.Is(err, errReplaced) {
		return errLater
	}
	return err
}

func (a *reading) restart(got func([]byte)) {
	a.sum = shipping.Running{}
	got(nil)
}

// more passes on the bytes behind those that were read.
func (a *reading) more(ctx context.Context, p *Puller, r remote, got func([]byte)) error {
	get := &fetch{p: p, r: r, sum: a.sum, fate: "what follows is not shown", write: func(b []byte) error { got(b); return nil }}
	err := get.run(ctx)
	a.sum = get.sum
	return err
}

// follow calls read whenever the session changed, and at the beginning.
func (f *Following) follow(ctx context.Context, sid team.SID, read func(context.Context, team.Tip) error) error {
	me := &follower{sid: sid, wake: make(chan struct{}, 1)}
	leave := f.ear.join(ctx, me)
	defer leave()
	w := watch{p: f.p, sid: sid, stop: func() bool { return true }}
	defer func() { w.stop() }()
	for {
		err := w.look(ctx, read)
		if ctx.Err() != nil {
			return fault.New(fault.Cancelled, "The session is not followed any more: %w.", ctx.Err())
		}
		if err != nil && !errors.Is(err, errLater) && !fault.Is(err, fault.Offline) {
			return err
		}
		if err := f.pause(ctx, me, err); err != nil {
			return err
		}
	}
}

// pause waits for a notification, or for the time until the next question.
func (f *Following) pause(ctx context.Context, me *follower, last error) error {
	d := pollTime
	if last == nil && f.ear.hears() {
		d = safetyTime
	}
	c, stop := f.p.After(d)
	defer stop()
	select {
	case <-ctx.Done():
		return fault.New(fault.Cancelled, "The session is not followed any more: %w.", ctx.Err())
	case <-me.wake:
	case <-c:
	}
	return nil
}

// watch asks for the length of one session.
type watch struct {
	p      *Puller
	sid    team.SID
	cursor team.Cursor
	behind bool // the last look did not read everything
	known  <-chan time.Time
	stop   func() bool
}

// look reads a session that changed since the last look. Once a minute it makes writers notify, and finds out whether the session is
// still there: one that was hidden never changes.
func (w *watch) look(ctx context.Context, read func(context.Context, team.Tip) error) error {
	changed := w.behind
	if w.due() {
		changed = true
		w.tell(ctx)
	}
	if store, ok := w.p.Store.(team.Follower); ok && !changed {
		lengths, next, err := store.Tips(ctx, []team.SID{w.sid}, w.cursor)
		if err != nil {
			return err
		}
		w.cursor, changed = next, len(lengths) > 0
	} else {
		changed = true
	}
	if !changed {
		return nil
	}
	w.behind = true
	tip, err := w.p.Store.Tip(ctx, w.sid)
	switch {
	case err != nil:
		return err
	case tip.Code != team.OK:
		return team.NoSession(w.sid)
	case tip.Len < 0 || tip.Gen < 1:
		return damaged(w.sid, 0, nothing)
	}
	err = read(ctx, tip)
	w.behind = err != nil
	return err
}

// due reports whether a minute is over since the last time it was, and at first.
func (w *watch) due() bool {
	if w.known != nil {
		select {
		case <-w.known:
		default:
			return false
		}
	}
	w.known, w.stop = w.p.After(heardTime)
	return true
}

// tell makes the writers of the session notify.
func (w *watch) tell(ctx context.Context) {
	if store, ok := w.p.Store.(team.Follower); ok {
		_ = store.Follow(ctx, []team.SID{w.sid}) // then the session is found by asking
	}
}
