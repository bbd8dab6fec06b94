package teamtest

import (
	"context"
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// answerLocked returns the state of a session with a code.
func (v *Server) answerLocked(c *sharedSession, code team.Code) team.Tip {
	t := c.tip
	t.Code = code
	t.Heard = c.heard.After(v.now)
	if !t.Device.IsZero() {
		t.Left = max(0, c.until.Sub(v.now)).Truncate(time.Millisecond)
	}
	return t
}

// freeLocked reports whether no device has the lease.
func (v *Server) freeLocked(c *sharedSession) bool {
	return c.tip.Device.IsZero() || c.until.Before(v.now)
}

// takeLocked gives the lease to a device.
func (v *Server) takeLocked(c *sharedSession, d team.DeviceID) {
	if c.tip.Device != d {
		c.tip.Fence++
	}
	c.tip.Device, c.until = d, v.now.Add(leaseTime)
}

// compared runs f for a session that the user may write to, in the name of the device, with an answer of
// f or Gone.
func (s *Store) compared(ctx context.Context, sid team.SID, f func(v *Server, c *sharedSession, d team.DeviceID) team.Code) (t team.Tip, err error) {
	d, err := s.deviceID()
	if err != nil {
		return t, err
	}
	err = s.locked(ctx, func(v *Server, u *user) error {
		t.Code = team.Gone
		if c := v.mayLocked(u, sid, 2); c != nil {
			v.tickLocked()
			t = v.answerLocked(c, f(v, c, d))
		}
		return nil
	})
	return t, err
}

// Tip implements [team.Store].
func (s *Store) Tip(ctx context.Context, sid team.SID) (t team.Tip, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		t.Code = team.Gone
		if c := v.mayLocked(u, sid, 1); c != nil {
			t = v.answerLocked(c, team.OK)
		}
		return nil
	})
	return t, err
}

// Writer implements [team.Store].
func (s *Store) Writer(ctx context.Context, sid team.SID) (w team.Writer, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		c := v.mayLocked(u, sid, 1)
		if c == nil || c.tip.Device.IsZero() {
			return nil
		}
		d, known := v.devices[c.tip.Device]
		if known {
			w = team.Writer{Device: c.tip.Device, Label: d.label, Owner: d.owner.role, Mine: d.owner == u, Left: v.answerLocked(c, team.OK).Left}
		}
		return nil
	})
	return w, err
}

// Append implements [team.Store].
func (s *Store) Append(ctx context.Context, a team.Append) (team.Tip, error) {
	if len(a.Bytes) == 0 {
		return team.Tip{}, fault.New(fault.InvalidArgument, "An append to the team store needs bytes.")
	}
	return s.compared(ctx, a.SID, func(v *Server, c *sharedSession, d team.DeviceID) team.Code {
		n := int64(len(a.Bytes))
		switch {
		case c.tip.Gen != a.Gen:
			return team.OtherGen
		case c.tip.Len == a.Len+n && c.tip.Sum == a.New:
			return team.Same
		case c.tip.Len > a.Len:
			return team.Ahead
		case c.tip.Len < a.Len:
			return team.Short
		case c.tip.Sum != a.Sum:
			return team.Differs
		case !v.freeLocked(c) && (c.tip.Device != d || c.tip.Fence != a.Fence):
			return team.Fenced
		}
		v.takeLocked(c, d)
		c.bodies[a.Gen] = append(c.bodies[a.Gen], segment{a.Len, slices.Clone(a.Bytes), a.New})
		c.tip.Len, c.tip.Sum, c.grown = a.Len+n, a.New, v.changedLocked()
		if v.now.Sub(c.listed) > listTime {
			c.listed, c.modified, c.touched = v.now, v.now, c.grown
		}
		return team.OK
	})
}

// Lease implements [team.Store].
func (s *Store) Lease(ctx context.Context, sid team.SID, force bool) (team.Tip, error) {
	return s.compared(ctx, sid, func(v *Server, c *sharedSession, d team.DeviceID) team.Code {
		if !force && !v.freeLocked(c) && c.tip.Device != d {
			return team.Busy
		}
		v.takeLocked(c, d)
		return team.OK
	})
}

// Release implements [team.Store].
func (s *Store) Release(ctx context.Context, sid team.SID, fence int64) error {
	_, err := s.compared(ctx, sid, func(_ *Server, c *sharedSession, d team.DeviceID) team.Code {
		if c.tip.Device == d && c.tip.Fence == fence {
			c.tip.Device = team.DeviceID{}
		}
		return team.OK
	})
	return err
}
