package publish

import (
	"context"
	"crypto/sha256"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// rewrite begins to replace the body of a session by that of the file, which was rewritten here.
func (s *sending) rewrite(ctx context.Context) (outcome, error) {
	rules, err := s.rules.of(allowed(s.may.decision.Redact)[0])
	if err != nil {
		return outcome{}, err
	}
	kept, err := s.lease(ctx)
	if err != nil || kept.phase != Pending {
		return kept, err
	}
	s.next, s.tail = shipping.NewOutgoing(rules), sha256.Sum256(nil)
	return s.again()
}

// stage puts the next batch beside the published body, or publishes the staged one.
func (s *sending) stage(ctx context.Context) (outcome, error) {
	lines, err := s.f.lines(s.next.File().Len, s.size.size)
	if err != nil {
		return outcome{}, err
	}
	if lines == nil {
		return s.publish(ctx)
	}
	b := s.next.Batch(lines)
	if err := s.sendImages(ctx, b.Bytes); err != nil {
		return outcome{}, err
	}
	err = s.store.Stage(ctx, team.Stage{
		SID: s.bound.sid, Gen: s.bound.gen + 1, Off: b.From.Len, Was: b.From.Sum, Bytes: b.Bytes, Sum: b.To.Sum,
	})
	if err != nil {
		s.broke(err)
		if fault.Is(err, fault.Stale) { // another process stages, or the session has another body
			s.next = nil
		}
		return outcome{}, err
	}
	tail, err := shipping.TailSum(s.f.body, s.next.File().Len+int64(len(lines)))
	if err != nil { // the file was just read, so it changed
		s.next = nil
		return s.again()
	}
	s.next.Sent(b)
	s.tail = tail
	s.size.sent()
	return outcome{phase: Pending, more: true, moved: true}, nil
}

// publish replaces the body by the staged one.
func (s *sending) publish(ctx context.Context) (outcome, error) {
	to := s.next.Out()
	tip, err := s.store.Publish(ctx, team.Publish{
		SID: s.bound.sid, WasGen: s.bound.gen, WasLen: s.bound.agreed.Len, WasSum: s.bound.agreed.Sum,
		Gen: s.bound.gen + 1, Len: to.Len, Sum: to.Sum, Fence: s.bound.fence,
	})
	switch {
	case err != nil:
		return outcome{}, err
	case tip.Code == team.Gone:
		return s.gone(), nil
	case tip.Code == team.Fenced:
		if kept, err := s.lease(ctx); err != nil || kept.phase != Pending {
			return kept, err
		}
		return s.again()
	case tip.Code != team.OK && tip.Code != team.Same:
		s.next = nil
		return s.again()
	}
	s.bound.gen++
	s.shown.own = true
	s.shown.redo()
	s.out, s.next = s.next, nil
	s.remember(s.f)
	s.looks = 0
	s.heard = s.heard || tip.Heard
	return outcome{phase: Pending, more: true, moved: true, after: s.tell(ctx, s.store)}, nil
}
