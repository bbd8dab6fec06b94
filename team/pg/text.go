package pg

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// Said implements [team.Store].
func (s *Store) Said(ctx context.Context, sid team.SID, from, to int64, t []team.Text) error {
	offs, kinds := make([]int64, len(t)), make([]int16, len(t))
	entries, bodies := make([]string, len(t)), make([]string, len(t))
	n := 0
	for i, text := range t {
		offs[i], kinds[i] = text.Off, int16(text.Kind)
		entries[i], bodies[i] = team.PlainText(text.Entry), team.PlainText(text.Body)
		n += len(text.Body)
	}
	var filed int
	err := s.row(ctx, n, []any{&filed}, `select xcsh.said_v1($1, $2, $3, $4, $5, $6, $7)`, [16]byte(sid.UUID), from, to, offs, kinds, entries, bodies)
	if err == nil && filed < len(t) {
		return team.DeniedSession(sid)
	}
	return err
}

// Search implements [team.Store].
func (s *Store) Search(ctx context.Context, projects []int, query string, limit int) (hits []team.Hit, err error) {
	err = s.rows(ctx, 0, func(row wire.Row) error {
		var h team.Hit
		var sid [16]byte
		if err := row.Scan(&sid, &h.Entry, &h.Kind, &h.Off, &h.Excerpt); err != nil {
			return err
		}
		h.SID.UUID = sid
		hits = append(hits, h)
		return nil
	}, `select sid, entry, kind, off, excerpt from xcsh.search_v1($1, $2, $3)`, projects, team.PlainText(query), limit)
	return hits, err
}

// Lacks implements [team.Store].
func (s *Store) Lacks(ctx context.Context, project int, sid team.SID, hashes []team.Sum) (lacking []team.Sum, err error) {
	all := make([][]byte, len(hashes))
	for i := range hashes {
		all[i] = hashes[i][:]
	}
	err = s.rows(ctx, 0, func(row wire.Row) error {
		var b []byte
		if err := row.Scan(&b); err != nil {
			return err
		}
		lacking = append(lacking, team.Sum(b))
		return nil
	}, `select xcsh.lacks_v1($1, $2, $3)`, project, [16]byte(sid.UUID), all)
	return lacking, err
}

// PutBlob implements [team.Store].
func (s *Store) PutBlob(ctx context.Context, project int, sid team.SID, b []byte) error {
	var hash []byte
	err := s.row(ctx, len(b), []any{&hash}, `select xcsh.put_blob_v1($1, $2, $3)`, project, [16]byte(sid.UUID), nonNil(b))
	if err == nil && hash == nil {
		return team.DeniedSession(sid)
	}
	return err
}

// Blob implements [team.Store].
func (s *Store) Blob(ctx context.Context, project int, h team.Sum) ([]byte, error) {
	var b []byte
	err := s.row(ctx, 16<<20, []any{&b}, `select xcsh.blob_v1($1, $2)`, project, h[:])
	if err == nil && b == nil {
		return nil, fault.New(fault.NotFound, "The team store has no image %s that you may read.", h)
	}
	return b, err
}
