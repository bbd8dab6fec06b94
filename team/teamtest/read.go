package teamtest

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// bodyOf returns the segments of a body, none if the session is hidden.
func (s *Store) bodyOf(ctx context.Context, sid team.SID, gen int) (body []segment, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		if c := v.mayLocked(u, sid, 1); c != nil {
			body = slices.Clone(c.bodies[gen])
		}
		return nil
	})
	return body, err
}

// Read implements [team.Store].
func (s *Store) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	body, err := s.bodyOf(ctx, sid, gen)
	if err != nil {
		return err
	}
	got := 0
	for i, seg := range body {
		if i+1 < len(body) && body[i+1].off <= from {
			continue
		}
		if err := each(team.Segment{Off: seg.off, Bytes: slices.Clone(seg.bytes), Sum: seg.sum}); err != nil {
			return err
		}
		if got += len(seg.bytes); got >= most {
			break
		}
	}
	return nil
}

// Back implements [team.Store].
func (s *Store) Back(ctx context.Context, sid team.SID, gen int, before int64, most int, each func(team.Segment) error) error {
	body, err := s.bodyOf(ctx, sid, gen)
	if err != nil {
		return err
	}
	got := 0
	for _, seg := range slices.Backward(body) {
		if seg.off >= before {
			continue
		}
		if err := each(team.Segment{Off: seg.off, Bytes: slices.Clone(seg.bytes)}); err != nil {
			return err
		}
		if got += len(seg.bytes); got >= most {
			break
		}
	}
	return nil
}

// SumAt implements [team.Store].
func (s *Store) SumAt(ctx context.Context, sid team.SID, gen int, at int64) (end int64, sum team.Sum, err error) {
	body, err := s.bodyOf(ctx, sid, gen)
	sum = team.EmptySum
	for _, seg := range body {
		if seg.end() <= at {
			end, sum = seg.end(), seg.sum
		}
	}
	if err != nil {
		return 0, team.Sum{}, err
	}
	return end, sum, nil
}
