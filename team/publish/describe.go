package publish

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// described is the description of a session that was sent for lists and the search.
type described struct {
	own    bool            // lines or the title were sent from this machine; otherwise another one describes the session
	digest shipping.Digest // of the lines whose texts were filed
	head   team.Sum        // of the head that the store has; zero if that is not known
	sum    team.Sum        // of the last description; zero before the first one
	at     time.Time       // of the last description by this process
	looked bool            // the head was compared with that of the store
}

// redo forgets which lines were described: the body is another one.
func (d *described) redo() { d.digest, d.sum = shipping.Digest{Filed: d.digest.Filed}, team.Sum{} }

// finish is the outcome if all whole lines are in the store. The texts of the lines and the description of the session are sent when
// the file rested for a while, so that they delay no lines.
func (s *sending) finish(ctx context.Context) (outcome, error) {
	s.unsent, s.looks = 0, 0
	wait := s.tell(ctx, s.store)
	out, err := s.describe(ctx)
	if wait > 0 && (out.after == 0 || wait < out.after) {
		out.after = wait
	}
	return out, err
}

// describe makes the next step of a description. An error is that of the store.
func (s *sending) describe(ctx context.Context) (outcome, error) {
	head, err := s.out.Head(s.f.head, s.may.folder)
	if err != nil {
		return outcome{}, err
	}
	if !s.shown.looked || !s.shown.own && team.SumOf(head.Raw) != s.shown.head {
		if err := s.look(ctx, head); err != nil {
			return outcome{texts: true}, err
		}
	}
	if !s.shown.own {
		return outcome{phase: Sent}, nil
	}
	isNew := team.SumOf(head.Raw) != s.shown.head
	rest := s.shown.digest.File < s.out.File().Len
	if !rest && !isNew && s.descriptionOf(head) == s.shown.sum {
		s.shown.at = s.c.Clock.Now()
		return outcome{phase: Sent}, nil
	}
	if wait := s.untilRest(); wait > 0 && !isNew {
		return outcome{phase: Sent, after: wait, texts: true}, nil
	}
	if rest {
		err = s.fileTexts(ctx)
	} else {
		err = s.sendHead(ctx, head)
	}
	return outcome{phase: Sent, more: err == nil, texts: true}, err
}

// untilRest returns the time until the file is described: until it rested for a while, and not much longer than the last description
// is ago. It is 0 for a session that was never described.
func (s *sending) untilRest() time.Duration {
	now := s.c.Clock.Now()
	if s.shown.at.IsZero() {
		s.shown.at = now
	}
	if s.hurry || s.shown.sum == (team.Sum{}) {
		return 0
	}
	return min(resting-now.Sub(s.changed), describing-now.Sub(s.shown.at))
}

// fileTexts files the texts of the next lines for the search.
func (s *sending) fileTexts(ctx context.Context) error {
	next := s.shown.digest
	lines, err := s.f.lines(next.File, largest)
	if err != nil {
		return err
	}
	if lines == nil { // the file was just read, so it changed
		return fault.New(fault.Stale, "%s changed while it was read. It is described again.", s.path).With("path", s.path)
	}
	texts := next.Add(s.out.Rules(), lines, s.c.Home)
	from, to := s.shown.digest.Out, next.Out
	replaces := from == 0 && s.bound.gen > 1 // the texts of a longer body may be filed
	if replaces {
		to = math.MaxInt64
	}
	if replaces || len(texts) > 0 {
		if err := s.store.Said(ctx, s.bound.sid, from, to, texts); err != nil {
			return err
		}
	}
	s.shown.digest = next
	s.save()
	return nil
}

// descriptionOf returns the sum of what lists show of a session with this head.
func (s *sending) descriptionOf(head shipping.Head) team.Sum {
	d := &s.shown.digest
	return team.SumOf(fmt.Appendf(nil, "%s %q %q %d %g", team.SumOf(head.Raw), s.titleOf(head), d.First, d.Messages, d.Cost))
}

// titleOf returns the title that lists show.
func (s *sending) titleOf(head shipping.Head) string {
	return shipping.Tilde(s.shown.digest.Title(head), s.c.Home)
}

// sendHead sends the head and the description of the session. A title that a user chose wins over one that a program made. Of two that
// users chose, that of this machine wins if it changed after the machine agreed with the store on a title.
func (s *sending) sendHead(ctx context.Context, mine shipping.Head) error {
	theirs, err := s.store.Head(ctx, s.bound.sid)
	if fault.Is(err, fault.NotFound) {
		err = nil // the next append is answered Gone
		s.shown.own = false
	}
	if err != nil || !s.shown.own {
		return err
	}
	shown := mine
	if s.shown.head != team.SumOf(mine.Raw) && !s.wins(mine, theirs.Bytes) {
		if shown, err = shipping.ParseHead(theirs.Bytes); err != nil {
			return err
		}
	} else if stored, err := shipping.ParseHead(theirs.Bytes); err == nil && s.shown.head == team.SumOf(mine.Raw) {
		shown = stored // changed by another machine meanwhile, or equal
	}
	if err := s.setHead(ctx, shown, theirs.Rev); err != nil {
		return err // Stale: the next step reads the head again
	}
	s.shown.head, s.shown.sum, s.shown.at = team.SumOf(mine.Raw), s.descriptionOf(mine), s.c.Clock.Now()
	s.save()
	return nil
}

// setHead files the title and replaces the head.
func (s *sending) setHead(ctx context.Context, h shipping.Head, rev int) error {
	title := s.titleOf(h)
	var texts []team.Text
	if title != "" {
		texts = []team.Text{{Off: team.TitleOff, Kind: team.TitleText, Body: title}}
	}
	d := &s.shown.digest
	if title != d.Filed {
		if err := s.store.Said(ctx, s.bound.sid, team.TitleOff, 0, texts); err != nil {
			return err
		}
		d.Filed = title
	}
	_, err := s.store.SetHead(ctx, s.bound.sid, team.Head{
		Bytes: h.Raw, Rev: rev, Title: title, FirstPrompt: d.First, Messages: d.Messages, Cost: d.Cost,
	})
	return err
}

// look compares the head of the file with that of the store, once in a process and when the head of a session changed that another
// machine wrote.
func (s *sending) look(ctx context.Context, mine shipping.Head) error {
	theirs, err := s.store.Head(ctx, s.bound.sid)
	if fault.Is(err, fault.NotFound) {
		return nil // the next append is answered Gone
	}
	if err != nil {
		return err
	}
	s.shown.looked = true
	sum := team.SumOf(mine.Raw)
	switch {
	case team.SumOf(theirs.Bytes) == sum:
		s.shown.head = sum
	case s.shown.head == sum: // only the store's title changed
		if other, err := shipping.ParseHead(theirs.Bytes); err == nil && rank(other) == 2 {
			s.titled(mine, other)
		}
	case s.wins(mine, theirs.Bytes):
		s.shown.own = true
	default:
		s.shown.head = sum // is not compared again until it changes
	}
	return nil
}

// titled notifies of a title that a user chose elsewhere.
func (s *sending) titled(mine, theirs shipping.Head) {
	if theirs.Title() != mine.Title() {
		s.c.Event(Event{Kind: Titled, Path: s.path, SID: s.bound.sid, Title: theirs.Title().Text})
	}
}

// wins reports whether the head of the file replaces that of the store.
func (s *sending) wins(mine shipping.Head, store []byte) bool {
	known := s.shown.head != team.Sum{}
	if known && s.shown.head == team.SumOf(store) {
		return true
	}
	theirs, err := shipping.ParseHead(store)
	if err != nil {
		return true
	}
	a, b := rank(mine), rank(theirs)
	if b == 2 && (a < b || !known) {
		s.titled(mine, theirs)
	}
	return a > b || a == b && known
}

// rank orders titles: chosen by a user, made by a program, none.
func rank(h shipping.Head) int {
	switch t := h.Title(); {
	case t.Text == "":
		return 0
	case t.Source == "user":
		return 2
	default:
		return 1
	}
}

// complete brings the lines that the store has and the file lacks, if nobody writes the file on this machine.
func (s *sending) complete(ctx context.Context, r relation) (outcome, error) {
	s.unsent, s.newer = 0, r.tip.Len-r.end
	out := outcome{phase: Behind}
	if s.c.Complete == nil || s.hurry {
		return out, nil
	}
	if out.after = resting - s.c.Clock.Now().Sub(s.changed); out.after > 0 {
		return out, nil
	}
	switch err := s.c.Complete(ctx, s.path, r.sid); {
	case err == nil:
		s.newer = 0
		return s.again()
	case ctx.Err() != nil:
		return out, err
	case passes(err), fault.Is(err, fault.Busy): // open in a server of this machine, or the store cannot be reached
		return outcome{phase: Behind, after: resting, err: err}, nil
	default:
		return outcome{phase: Behind, after: rarely, err: err}, nil
	}
}
