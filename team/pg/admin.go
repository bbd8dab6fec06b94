package pg

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team/pg/wire"
)

// Level says what a member of a team may do.
type Level int

// The levels.
const (
	None        Level = 0 // no member
	Reader      Level = 1
	Writer      Level = 2
	Administers Level = 3
)

// Admit lets a role of the server call the functions of the store. The caller must be allowed to grant
// xcsh_member: an administrator of the server, or the user who ran Init.
func (s *Store) Admit(ctx context.Context, role string) error {
	return s.exec(ctx, `grant xcsh_member to `+wire.Identifier(role))
}

// AddUser makes a role known to the store under the name display. Only users with the role xcsh_owner
// and administrators of a team may; others get a Denied error.
func (s *Store) AddUser(ctx context.Context, role, display string) error {
	var id *int
	err := s.row(ctx, 0, []any{&id}, `select xcsh.person_v1($1, $2)`, role, display)
	if err == nil && id == nil {
		return fault.New(fault.Denied, "Only an administrator of a team can add the user %s to the team store.", role)
	}
	return err
}

// AddTeam creates a team, which the caller administers if they are a user of the store. It returns a
// Denied error if the caller doesn't have the role xcsh_owner.
func (s *Store) AddTeam(ctx context.Context, name string) error {
	return s.exec(ctx, `select xcsh.team_v1($1)`, name)
}

// Grant sets the level of a user in a team. It returns a Denied error if the user is not known, or the
// caller doesn't administer the team.
func (s *Store) Grant(ctx context.Context, name, role string, level Level) error {
	var done bool
	err := s.row(ctx, 0, []any{&done}, `select xcsh.grant_v1($1, $2, $3)`, name, role, int(level))
	if err == nil && !done {
		return fault.New(fault.Denied, "The team store has no user %s, or you don't administer the team %s.", role, name)
	}
	return err
}
