package pg

import (
	"context"
	"time"

	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// infoRow holds the columns of the type info_v1. All of them are NULL in the row of a cursor.
type infoRow struct {
	sid                                      *[16]byte
	project, visible, variant, dialect, msgs *int
	owner, header, title, first, writer      *string
	cost                                     *float64
	bytes, left                              *int64
	created, modified                        *time.Time
	deleted                                  *bool
}

// dest returns the destinations of the columns, in their order.
func (r *infoRow) dest() []any {
	return []any{
		&r.sid, &r.project, &r.owner, &r.visible, &r.header, &r.variant, &r.dialect, &r.title, &r.first,
		&r.msgs, &r.cost, &r.bytes, &r.created, &r.modified, &r.writer, &r.left, &r.deleted,
	}
}

// info returns the row as a value.
func (r *infoRow) info() team.Info {
	i := team.Info{
		Project: value(r.project), Owner: value(r.owner), Visible: team.Visibility(value(r.visible)), HeaderID: value(r.header), Variant: value(r.variant),
		Title: value(r.title), FirstPrompt: value(r.first), Messages: value(r.msgs), Cost: value(r.cost), Bytes: value(r.bytes),
		Created: value(r.created), Modified: value(r.modified), Writer: value(r.writer), Deleted: value(r.deleted),
	}
	i.SID.UUID = value(r.sid)
	i.Dialect = dialect(value(r.dialect))
	if i.Writer != "" {
		i.WriterLeft = time.Duration(value(r.left)) * time.Millisecond
	}
	return i
}

// value returns *p, or the zero value for NULL.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// List implements [team.Store].
func (s *Store) List(ctx context.Context, q team.ListQuery) ([]team.Info, error) {
	before, sid := place(q)
	return s.infos(ctx, `xcsh.list_v1($1, $2, $3, $4)`, q.Project, before, sid, q.Limit)
}

// Mine implements [team.Store].
func (s *Store) Mine(ctx context.Context, q team.ListQuery) ([]team.Info, error) {
	before, sid := place(q)
	return s.infos(ctx, `xcsh.mine_v1($1, $2, $3)`, before, sid, q.Limit)
}

// Infos implements [team.Store].
func (s *Store) Infos(ctx context.Context, sids []team.SID) ([]team.Info, error) {
	return s.infos(ctx, `xcsh.infos_v1($1)`, uuids(sids))
}

// place returns the place of a page as arguments, NULL for the first one.
func place(q team.ListQuery) (before *time.Time, sid *[16]byte) {
	if q.Before.IsZero() {
		return nil, nil
	}
	return &q.Before, (*[16]byte)(&q.BeforeSID.UUID)
}

// infos returns the result of a function.
func (s *Store) infos(ctx context.Context, call string, args ...any) (infos []team.Info, err error) {
	err = s.rows(ctx, 0, func(row wire.Row) error {
		var r infoRow
		if err := row.Scan(r.dest()...); err != nil {
			return err
		}
		infos = append(infos, r.info())
		return nil
	}, `select sid, project, owner, visible, header_id, variant, dialect, title, first_prompt, messages, cost::float8, bytes, created, modified, writer, left_ms, deleted
		from `+call, args...)
	return infos, err
}

// Changes implements [team.Store].
func (s *Store) Changes(ctx context.Context, project int, since team.Cursor) (infos []team.Info, next team.Cursor, err error) {
	err = s.rows(ctx, 0, func(row wire.Row) error {
		var r infoRow
		var cursor *uint64
		if err := row.Scan(append([]any{&cursor}, r.dest()...)...); err != nil {
			return err
		}
		if cursor != nil {
			next = team.Cursor(*cursor)
			return nil
		}
		infos = append(infos, r.info())
		return nil
	}, `select cursor, (info).sid, (info).project, (info).owner, (info).visible, (info).header_id, (info).variant, (info).dialect, (info).title, (info).first_prompt,
		(info).messages, (info).cost::float8, (info).bytes, (info).created, (info).modified, (info).writer, (info).left_ms, (info).deleted
		from xcsh.changes_v1($1, $2)`, project, uint64(since))
	if err != nil {
		return nil, 0, err
	}
	return infos, next, nil
}

// Tips implements [team.Follower].
func (s *Store) Tips(ctx context.Context, sids []team.SID, since team.Cursor) (lengths []team.Length, next team.Cursor, err error) {
	err = s.rows(ctx, 0, func(row wire.Row) error {
		var cursor *uint64
		var sid *[16]byte
		var gen *int
		var n *int64
		if err := row.Scan(&cursor, &sid, &gen, &n); err != nil {
			return err
		}
		if cursor != nil {
			next = team.Cursor(*cursor)
			return nil
		}
		lengths = append(lengths, team.Length{SID: team.SID{UUID: value(sid)}, Gen: value(gen), Len: value(n)})
		return nil
	}, `select cursor, sid, gen, len from xcsh.tips_v1($1, $2)`, uuids(sids), uint64(since))
	if err != nil {
		return nil, 0, err
	}
	return lengths, next, nil
}

// Follow implements [team.Follower].
func (s *Store) Follow(ctx context.Context, sids []team.SID) error {
	return s.exec(ctx, `select xcsh.follow_v1($1)`, uuids(sids))
}

// uuids returns the ids as an argument.
func uuids(sids []team.SID) [][16]byte {
	all := make([][16]byte, len(sids))
	for i, sid := range sids {
		all[i] = sid.UUID
	}
	return all
}
