package pg

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// Delete implements [team.Store].
func (s *Store) Delete(ctx context.Context, sid team.SID, undo bool) error {
	var done bool
	err := s.row(ctx, 0, []any{&done}, `select xcsh.delete_v1($1, $2)`, [16]byte(sid.UUID), undo)
	if err == nil && !done {
		return team.DeniedSession(sid)
	}
	return err
}

// Purge implements [team.Upkeep].
func (s *Store) Purge(ctx context.Context, project int, now bool) (n int, err error) {
	err = s.row(ctx, longest, []any{&n}, `select xcsh.purge_v1($1, $2)`, project, now)
	return n, err
}

// Compact implements [team.Upkeep].
func (s *Store) Compact(ctx context.Context, sid team.SID) (n int, err error) {
	err = s.row(ctx, longest, []any{&n}, `select xcsh.compact_v1($1)`, [16]byte(sid.UUID))
	return n, err
}

// longest is the size of a transfer that takes as long as the longest upkeep may.
const longest = 64 << 20

// Writable returns the ids of the projects in which the user may write.
func (s *Store) Writable(ctx context.Context) (ids []int, err error) {
	err = s.row(ctx, 0, []any{&ids}, `select xcsh.projects($1)`, int(Writer))
	return ids, err
}
