package pg

import (
	"context"
	"errors"
	"math"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// Project implements [team.Store].
func (s *Store) Project(ctx context.Context, name, key, display string) (team.Project, error) {
	var id *int
	err := s.row(ctx, 0, []any{&id}, `select xcsh.project_v1($1, $2, $3)`, team.PlainText(name), team.PlainText(key), team.PlainText(display))
	if err != nil {
		return team.Project{}, err
	}
	if id == nil {
		return team.Project{}, team.NoProject(name, key)
	}
	return team.Project{ID: *id, Team: name, Key: key}, nil
}

// Teams implements [team.Store].
func (s *Store) Teams(ctx context.Context) (teams []team.Membership, err error) {
	err = s.rows(ctx, 0, func(row wire.Row) error {
		var m team.Membership
		if err := row.Scan(&m.Team, &m.Level, &m.Readers); err != nil {
			return err
		}
		teams = append(teams, m)
		return nil
	}, `select name, level, readers from xcsh.teams_v1()`)
	return teams, err
}

// Projects implements [team.Store].
func (s *Store) Projects(ctx context.Context) (projects []team.Project, err error) {
	err = s.rows(ctx, 0, func(row wire.Row) error {
		var p team.Project
		if err := row.Scan(&p.ID, &p.Team, &p.Key); err != nil {
			return err
		}
		projects = append(projects, p)
		return nil
	}, `select project, team, key from xcsh.projects_v1()`)
	return projects, err
}

// Open implements [team.Store].
func (s *Store) Open(ctx context.Context, o team.Opening) (known []team.Known, err error) {
	err = s.rows(ctx, len(o.Head), func(row wire.Row) error {
		var k team.Known
		var sid [16]byte
		if err := row.Scan(&sid, &k.Variant, &k.Visible, &k.Owner); err != nil {
			return err
		}
		k.SID.UUID = sid
		known = append(known, k)
		return nil
	}, `select sid, variant, visible, owner from xcsh.open_v1($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		o.Project, [16]byte(o.SID.UUID), team.PlainText(o.HeaderID), int(o.Dialect), team.PlainText(o.FileName), nonNil(o.Head), o.Created, int(o.Visible), team.PlainText(o.Title))
	return known, err
}

// nonNil returns b, or an empty slice instead of nil, which would be NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Head implements [team.Store].
func (s *Store) Head(ctx context.Context, sid team.SID) (team.Head, error) {
	var h team.Head
	var rules int
	err := s.row(ctx, 0, []any{&h.Bytes, &h.Rev, &h.FileName, &rules, &h.Variant, &h.HeaderID},
		`select head, rev, file_name, dialect, variant, header_id from xcsh.head_of_v1($1)`, [16]byte(sid.UUID))
	if errors.Is(err, wire.ErrNoRow) {
		return team.Head{}, team.NoSession(sid)
	}
	if err != nil {
		return team.Head{}, err
	}
	h.Dialect = dialect(rules)
	return h, nil
}

// SetHead implements [team.Store].
func (s *Store) SetHead(ctx context.Context, sid team.SID, h team.Head) (rev int, err error) {
	if math.IsNaN(h.Cost) || math.IsInf(h.Cost, 0) {
		return 0, fault.New(fault.InvalidArgument, "The cost of a session must be a number.")
	}
	var now *int
	err = s.row(ctx, len(h.Bytes), []any{&now}, `select xcsh.head_v1($1, $2, $3, $4, $5, $6, $7::float8::numeric)`,
		[16]byte(sid.UUID), h.Rev, nonNil(h.Bytes), team.PlainText(h.Title), team.PlainText(h.FirstPrompt), h.Messages, h.Cost)
	if err != nil {
		return 0, err
	}
	if now == nil {
		return 0, team.StaleHead(sid)
	}
	return *now, nil
}
