package teamtest

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// infoLocked returns a session as lists show it.
func (v *Server) infoLocked(c *sharedSession) team.Info {
	i := team.Info{
		SID: c.sid, Project: c.project, Owner: c.owner.role, Visible: c.visible, HeaderID: c.headerID, Variant: c.variant, Dialect: c.dialect,
		Title: c.head.Title, FirstPrompt: c.head.FirstPrompt, Messages: c.head.Messages, Cost: c.head.Cost, Bytes: c.tip.Len,
		Created: c.created, Modified: c.modified, Deleted: !c.deleted.IsZero(),
	}
	if !v.freeLocked(c) {
		i.Writer = v.devices[c.tip.Device].label
		i.WriterLeft = c.until.Sub(v.now).Truncate(time.Millisecond)
	}
	return i
}

// order compares two places in a list, which begins with the session that was modified last.
func order(a, b team.Info) int {
	return cmp.Or(b.Modified.Compare(a.Modified), bytes.Compare(b.SID.UUID[:], a.SID.UUID[:]))
}

// List implements [team.Store].
func (s *Store) List(ctx context.Context, q team.ListQuery) ([]team.Info, error) {
	return s.page(ctx, q, func(v *Server, u *user, c *sharedSession) bool {
		return c.project == q.Project && v.mayLocked(u, c.sid, 1) != nil
	})
}

// Mine implements [team.Store].
func (s *Store) Mine(ctx context.Context, q team.ListQuery) ([]team.Info, error) {
	return s.page(ctx, q, func(v *Server, u *user, c *sharedSession) bool { return c.owner == u && v.seesLocked(u, c, 1) })
}

// page returns a page of the sessions that are wanted.
func (s *Store) page(ctx context.Context, q team.ListQuery, wantedLocked func(*Server, *user, *sharedSession) bool) (infos []team.Info, err error) {
	before := team.Info{SID: q.BeforeSID, Modified: q.Before}
	err = s.locked(ctx, func(v *Server, u *user) error {
		for _, c := range v.sessions {
			if !wantedLocked(v, u, c) {
				continue
			}
			if i := v.infoLocked(c); q.Before.IsZero() || order(before, i) < 0 {
				infos = append(infos, i)
			}
		}
		return nil
	})
	slices.SortFunc(infos, order)
	return infos[:min(len(infos), q.Limit)], err
}

// Infos implements [team.Store].
func (s *Store) Infos(ctx context.Context, sids []team.SID) (infos []team.Info, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		for _, c := range v.sessions {
			if slices.Contains(sids, c.sid) && v.mayLocked(u, c.sid, 1) != nil {
				infos = append(infos, v.infoLocked(c))
			}
		}
		return nil
	})
	return infos, err
}

// Changes implements [team.Store].
func (s *Store) Changes(ctx context.Context, project int, since team.Cursor) (infos []team.Info, next team.Cursor, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		for _, c := range v.sessions {
			if c.project == project && c.touched >= since && v.seesLocked(u, c, 1) {
				infos = append(infos, v.infoLocked(c))
			}
		}
		next = v.changes + 1
		return nil
	})
	return infos, next, err
}

// Tips implements [team.Follower].
func (s *Store) Tips(ctx context.Context, sids []team.SID, since team.Cursor) (lengths []team.Length, next team.Cursor, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		for _, sid := range sids {
			if c := v.mayLocked(u, sid, 1); c != nil && c.grown >= since {
				lengths = append(lengths, team.Length{SID: sid, Gen: c.tip.Gen, Len: c.tip.Len})
			}
		}
		next = v.changes + 1
		return nil
	})
	return lengths, next, err
}

// Follow implements [team.Follower].
func (s *Store) Follow(ctx context.Context, sids []team.SID) error {
	return s.locked(ctx, func(v *Server, u *user) error {
		for _, sid := range sids {
			if c := v.mayLocked(u, sid, 1); c != nil {
				c.heard = v.now.Add(followTime)
			}
		}
		return nil
	})
}
