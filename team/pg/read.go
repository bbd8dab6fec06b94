package pg

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// Read implements [team.Store]. Segments that were sent before a connection breaks have been passed to
// each already.
func (s *Store) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	return s.rows(ctx, most, func(row wire.Row) error {
		var seg team.Segment
		var sum, bytes wire.Raw
		if err := row.Scan(&seg.Off, &sum, &seg.Codec, &bytes); err != nil {
			return err
		}
		copy(seg.Sum[:], sum)
		seg.Bytes = bytes
		return called(each(seg))
	}, `select off, sum, codec, bytes from xcsh.read_v1($1, $2, $3, $4)`, [16]byte(sid.UUID), gen, from, most)
}

// Back implements [team.Store].
func (s *Store) Back(ctx context.Context, sid team.SID, gen int, before int64, most int, each func(team.Segment) error) error {
	return s.rows(ctx, most, func(row wire.Row) error {
		var seg team.Segment
		var bytes wire.Raw
		if err := row.Scan(&seg.Off, &bytes); err != nil {
			return err
		}
		seg.Bytes = bytes
		return called(each(seg))
	}, `select off, bytes from xcsh.back_v1($1, $2, $3, $4)`, [16]byte(sid.UUID), gen, before, most)
}

// called marks an error of the caller's function.
func called(err error) error {
	if err != nil {
		return callbackError{err}
	}
	return nil
}

// SumAt implements [team.Store].
func (s *Store) SumAt(ctx context.Context, sid team.SID, gen int, at int64) (int64, team.Sum, error) {
	end, sum := int64(0), team.EmptySum
	err := s.rows(ctx, 0, func(row wire.Row) error {
		var b []byte
		err := row.Scan(&end, &b)
		copy(sum[:], b)
		return err
	}, `select at, sum from xcsh.sum_v1($1, $2, $3)`, [16]byte(sid.UUID), gen, at)
	if err != nil {
		return 0, team.Sum{}, err
	}
	return end, sum, nil
}
