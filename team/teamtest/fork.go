package teamtest

import (
	"context"
	"maps"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// Fork implements [team.Store].
func (s *Store) Fork(ctx context.Context, f team.Forking) (t team.Tip, err error) {
	d, err := s.deviceID()
	if err != nil {
		return t, err
	}
	err = s.locked(ctx, func(v *Server, u *user) error {
		t.Code = team.Gone
		c := v.mayLocked(u, f.SID, 2)
		if c == nil {
			return nil
		}
		if v.sessions[f.New] != nil {
			if forked := v.mayLocked(u, f.New, 1); forked != nil {
				t = v.answerLocked(forked, team.OK)
			}
			return nil
		}
		shared, ok := beginning(c, f.Gen, f.At)
		if !ok {
			t = v.answerLocked(c, team.Differs)
			return nil
		}
		t = v.answerLocked(v.forkLocked(u, c, f, d, shared), team.OK)
		return nil
	})
	return t, err
}

// beginning returns the segments of a body up to at, where one of them must end.
func beginning(c *sharedSession, gen int, at int64) (shared []segment, ok bool) {
	if gen > c.tip.Gen {
		return nil, false
	}
	if at == 0 {
		return nil, true
	}
	body := c.bodies[gen]
	i := slices.IndexFunc(body, func(s segment) bool { return s.end() == at })
	return body[:i+1], i >= 0
}

// forkLocked adds a variant that begins with the shared segments.
func (v *Server) forkLocked(u *user, c *sharedSession, f team.Forking, d team.DeviceID, shared []segment) *sharedSession {
	now := v.tickLocked()
	same := v.sameIDLocked(c.project, c.headerID)
	forked := *c
	forked.sid, forked.owner, forked.variant = f.New, u, same[len(same)-1].variant+1
	forked.head.Bytes, forked.head.Rev, forked.head.Cost = slices.Clone(f.Head), 1, 0
	forked.modified, forked.listed = now, now
	forked.touched = v.changedLocked()
	forked.grown = forked.touched
	forked.bodies = map[int][]segment{1: slices.Clone(shared)}
	forked.tip = team.Tip{Gen: 1, Len: f.At, Sum: team.EmptySum, Fence: 1, Device: d}
	if len(shared) > 0 {
		forked.tip.Sum = shared[len(shared)-1].sum
	}
	forked.until = now.Add(leaseTime)
	forked.heard = forked.deleted // not followed
	forked.texts = slices.DeleteFunc(slices.Clone(c.texts), func(t team.Text) bool { return t.Off >= f.At })
	forked.blobs = maps.Clone(c.blobs)
	v.sessions[f.New] = &forked
	return &forked
}

// Stage implements [team.Store].
func (s *Store) Stage(ctx context.Context, p team.Stage) error {
	if len(p.Bytes) == 0 {
		return fault.New(fault.InvalidArgument, "A staged piece needs bytes.")
	}
	return s.locked(ctx, func(v *Server, u *user) error {
		c := v.mayLocked(u, p.SID, 2)
		if c == nil || c.tip.Gen >= p.Gen {
			return team.StaleStage(p)
		}
		staged := slices.DeleteFunc(slices.Clone(c.bodies[p.Gen]), func(s segment) bool { return s.off >= p.Off })
		if p.Off > 0 && (len(staged) == 0 || staged[len(staged)-1].end() != p.Off || staged[len(staged)-1].sum != p.Was) {
			return team.StaleStage(p)
		}
		c.bodies[p.Gen] = append(staged, segment{p.Off, slices.Clone(p.Bytes), p.Sum})
		return nil
	})
}

// Publish implements [team.Store].
func (s *Store) Publish(ctx context.Context, p team.Publish) (team.Tip, error) {
	return s.compared(ctx, p.SID, func(v *Server, c *sharedSession, d team.DeviceID) team.Code {
		t := c.tip
		staged := slices.DeleteFunc(slices.Clone(c.bodies[p.Gen]), func(s segment) bool { return s.off >= p.Len })
		end, sum := int64(0), team.EmptySum
		if len(staged) > 0 {
			end, sum = staged[len(staged)-1].end(), staged[len(staged)-1].sum
		}
		switch {
		case t.Gen == p.Gen && t.Len == p.Len && t.Sum == p.Sum:
			return team.Same
		case p.Gen <= t.Gen || t.Gen != p.WasGen || t.Len != p.WasLen || t.Sum != p.WasSum:
			return team.Differs
		case t.Device != d || t.Fence != p.Fence:
			return team.Fenced
		case end != p.Len || sum != p.Sum:
			return team.Differs
		}
		maps.DeleteFunc(c.bodies, func(gen int, _ []segment) bool { return gen > t.Gen })
		c.bodies[p.Gen] = staged
		c.tip.Gen, c.tip.Len, c.tip.Sum = p.Gen, p.Len, p.Sum
		c.texts = nil
		c.touched = v.changedLocked()
		c.grown, c.modified = c.touched, v.now
		return team.OK
	})
}
