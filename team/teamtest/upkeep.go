package teamtest

import (
	"context"
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// joined is the size up to which Compact joins segments. Segments of half of it stay alone.
const joined = 1 << 20

// Delete implements [team.Store].
func (s *Store) Delete(ctx context.Context, sid team.SID, undo bool) error {
	return s.locked(ctx, func(v *Server, u *user) error {
		c := v.sessions[sid]
		if c == nil || !v.seesLocked(u, c, 2) || c.owner != u && v.levelLocked(u, c.project) < 3 {
			return team.DeniedSession(sid)
		}
		if undo == c.deleted.IsZero() {
			return nil
		}
		if c.deleted = v.tickLocked(); undo {
			c.deleted = time.Time{}
		}
		c.tip.Device = team.DeviceID{}
		c.touched = v.changedLocked()
		return nil
	})
}

// Purge implements [team.Upkeep].
func (s *Store) Purge(ctx context.Context, project int, now bool) (n int, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		for sid, c := range v.sessions {
			admin := v.levelLocked(u, project) >= 3
			if c.project != project || c.deleted.IsZero() || !v.seesLocked(u, c, 2) || c.owner != u && !admin {
				continue
			}
			if now || v.now.Sub(c.deleted) > trashTime {
				delete(v.sessions, sid)
				n++
			}
		}
		v.dropImagesLocked(project)
		return nil
	})
	return n, err
}

// dropImagesLocked removes the images of a project that no session names.
func (v *Server) dropImagesLocked(id int) {
	if id < 1 || id > len(v.projects) {
		return
	}
	for h := range v.projects[id-1].blobs {
		named := false
		for _, c := range v.sessions {
			named = named || c.project == id && c.blobs[h]
		}
		if !named {
			delete(v.projects[id-1].blobs, h)
		}
	}
}

// Compact implements [team.Upkeep].
func (s *Store) Compact(ctx context.Context, sid team.SID) (n int, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		c := v.mayLocked(u, sid, 2)
		if c == nil || !v.freeLocked(c) {
			return nil
		}
		var body []segment
		joining := false // the last segment of body is a joined one
		for _, seg := range c.bodies[c.tip.Gen] {
			last := len(body) - 1
			if last >= 0 && small(seg) && (joining || small(body[last])) && body[last].off/joined == seg.off/joined {
				if !joining {
					n++
				}
				joining = true
				body[last] = segment{body[last].off, append(slices.Clip(body[last].bytes), seg.bytes...), seg.sum}
				continue
			}
			body, joining = append(body, seg), false
		}
		c.bodies[c.tip.Gen] = body
		return nil
	})
	return n, err
}

func small(s segment) bool { return len(s.bytes) < joined/2 }
