package teamtest

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// namedLocked reports whether a session of the project that the user can see names the image.
func (v *Server) namedLocked(u *user, project int, h team.Sum) bool {
	for _, c := range v.sessions {
		if c.project == project && c.blobs[h] && v.mayLocked(u, c.sid, 1) != nil {
			return true
		}
	}
	return false
}

// Lacks implements [team.Store].
func (s *Store) Lacks(ctx context.Context, project int, sid team.SID, hashes []team.Sum) (lacking []team.Sum, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		c := v.mayLocked(u, sid, 2)
		for _, h := range hashes {
			if c == nil || c.project != project || !v.namedLocked(u, project, h) {
				lacking = append(lacking, h)
				continue
			}
			c.blobs[h] = true
		}
		return nil
	})
	return lacking, err
}

// PutBlob implements [team.Store].
func (s *Store) PutBlob(ctx context.Context, project int, sid team.SID, b []byte) error {
	return s.locked(ctx, func(v *Server, u *user) error {
		c := v.mayLocked(u, sid, 2)
		if c == nil || c.project != project {
			return team.DeniedSession(sid)
		}
		h := team.SumOf(b)
		c.blobs[h] = true
		v.projects[project-1].blobs[h] = slices.Clone(b)
		return nil
	})
}

// Blob implements [team.Store].
func (s *Store) Blob(ctx context.Context, project int, h team.Sum) (b []byte, err error) {
	err = s.locked(ctx, func(v *Server, u *user) error {
		if !v.namedLocked(u, project, h) {
			return fault.New(fault.NotFound, "The team store has no image %s that you may read.", h)
		}
		b = slices.Clone(v.projects[project-1].blobs[h])
		return nil
	})
	return b, err
}
