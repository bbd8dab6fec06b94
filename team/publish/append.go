package publish

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// append sends the next batch.
func (s *sending) append(ctx context.Context) (outcome, error) {
	lines, err := s.f.lines(s.out.File().Len, s.size.size)
	if err != nil {
		return outcome{}, err
	}
	if lines == nil {
		return s.finish(ctx)
	}
	b := s.out.Batch(lines)
	if err := s.sendImages(ctx, b.Bytes); err != nil {
		return outcome{}, err
	}
	tip, err := s.store.Append(ctx, team.Append{
		SID: s.bound.sid, Gen: s.bound.gen, Len: b.From.Len, Sum: b.From.Sum, Fence: s.bound.fence, Bytes: b.Bytes, New: b.To.Sum,
	})
	if err != nil {
		s.broke(err)
		return outcome{}, err
	}
	switch tip.Code {
	case team.OK, team.Same:
		return s.arrived(ctx, b, tip), nil
	case team.Fenced:
		if kept, err := s.lease(ctx); err != nil || kept.phase != Pending {
			return kept, err
		}
		return s.again()
	case team.Gone:
		return s.gone(), nil
	default: // Ahead, Short, Differs, OtherGen
		s.out = nil
		return s.again()
	}
}

// broke records that a call with bytes failed.
func (s *sending) broke(err error) {
	if fault.Is(err, fault.Offline) {
		s.size.broke()
	}
}

// arrived records a batch that is in the store.
func (s *sending) arrived(ctx context.Context, b shipping.Batch, tip team.Tip) outcome {
	s.out.Sent(b)
	s.unsent = s.f.body.Size() - s.out.File().Len
	if tip.Code == team.OK { // otherwise the lease may be another device's by now
		s.bound.fence = tip.Fence
	}
	s.shown.own = true
	s.remember(s.f)
	s.size.sent()
	s.looks = 0
	s.heard = s.heard || tip.Heard
	return outcome{phase: Pending, more: true, moved: true, after: s.tell(ctx, s.store)}
}

// again is the outcome if the file has to be compared with the store. After several comparisons in a row, the next one waits as after
// an error.
func (s *sending) again() (outcome, error) {
	if s.looks++; s.looks > 3 {
		return outcome{}, fault.New(fault.Stale, "The team store's copy of the session changes all the time. Its lines wait until it rests.")
	}
	return outcome{phase: Pending, more: true}, nil
}

// lease asks for the lease of the session. The phase is Pending if this device has it; otherwise the step ends.
func (s *sending) lease(ctx context.Context) (outcome, error) {
	before := s.c.Clock.Now()
	tip, err := s.store.Lease(ctx, s.bound.sid, false)
	switch {
	case err != nil:
		return outcome{}, err
	case tip.Code == team.Gone:
		return s.gone(), nil
	case tip.Code == team.Busy:
		left := tip.Left - s.c.Clock.Now().Sub(before) // it began to run at some time during the call
		return outcome{phase: Kept, after: max(left, leastAsk), writer: tip.Device}, nil
	}
	s.bound.fence = tip.Fence
	if s.out != nil && (tip.Gen != s.bound.gen || pointOf(tip) != s.out.Out()) {
		s.out = nil
	}
	if s.next != nil && (tip.Gen != s.bound.gen || pointOf(tip) != s.bound.agreed) {
		s.next = nil
	}
	return outcome{phase: Pending}, nil
}

func pointOf(t team.Tip) shipping.Point { return shipping.Point{Len: t.Len, Sum: t.Sum} }
