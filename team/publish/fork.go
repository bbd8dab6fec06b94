package publish

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// beginFork draws the id of a fork of the session that has the longest beginning in common with the file, and records it before the
// first call.
func (s *sending) beginFork(ctx context.Context, all []relation) (outcome, error) {
	var from relation
	var most *shipping.Outgoing
	for _, r := range all {
		for _, version := range allowed(s.may.decision.Redact) {
			o, err := s.common(ctx, r, version)
			if err != nil {
				return outcome{}, err
			}
			if most == nil || o.Out().Len > most.Out().Len {
				from, most = r, o
			}
		}
	}
	fork := s.bound.fork
	if fork.IsZero() {
		fork = s.c.Draw()
	}
	s.bound = binding{sid: from.sid, gen: from.tip.Gen, fork: fork}
	s.out = most
	s.remember(s.f)
	return s.again()
}

// common returns the lines up to the last end of a segment at which the file and the session agree. The ends at which they agree are
// all before those at which they don't.
func (s *sending) common(ctx context.Context, r relation, version int) (best *shipping.Outgoing, err error) {
	best, _, err = s.caughtUp(ctx, version, 0)
	if err != nil {
		return nil, err
	}
	whole, _, err := s.caughtUp(ctx, version, r.tip.Len)
	if err != nil {
		return nil, err
	}
	// All ends up to low agree, and none beyond high does.
	low, high := int64(0), min(whole.Out().Len, r.tip.Len)
	for probe := high; low < high; probe = low + (high-low+1)/2 {
		end, sum, err := s.store.SumAt(ctx, r.sid, r.tip.Gen, probe)
		if err != nil {
			return nil, err
		}
		if end <= low {
			low = probe // no segment ends in between
			continue
		}
		o, fits, err := s.caughtUp(ctx, version, end)
		if err != nil {
			return nil, err
		}
		if fits && o.Out() == (shipping.Point{Len: end, Sum: sum}) {
			best, low = o, probe
		} else {
			high = end - 1
		}
	}
	return best, nil
}

// fork makes the fork that was begun. A repeated call makes the same one.
func (s *sending) fork(ctx context.Context) (outcome, error) {
	head, err := s.out.Head(s.f.head, s.may.folder)
	if err != nil {
		return outcome{}, err
	}
	origin, at := s.bound.sid, s.out.Out()
	tip, err := s.store.Fork(ctx, team.Forking{SID: origin, Gen: s.bound.gen, At: at.Len, New: s.bound.fork, Head: head.Raw})
	switch {
	case err != nil:
		return outcome{}, err
	case tip.Code == team.Gone:
		return s.gone(), nil
	case tip.Code != team.OK: // segments were joined meanwhile
		s.out = nil
		return s.again()
	}
	s.bound = binding{sid: s.bound.fork, gen: tip.Gen, fence: tip.Fence}
	s.shown = described{own: true, head: team.SumOf(head.Raw), looked: true}
	if pointOf(tip) == at {
		s.remember(s.f)
	} else { // lines arrived before an earlier process ended
		s.out = nil
	}
	s.c.Event(Event{Kind: Forked, Path: s.path, SID: s.bound.sid, Origin: origin})
	return outcome{phase: Pending, more: true, moved: true}, nil
}
