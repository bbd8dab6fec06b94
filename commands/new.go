package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
)

var newSession = New(Spec{
	Name: "xcsh.new", Title: "New Session", Flags: Palette, Arg: "title",
	Doc: "Leave the folder's session and start a fresh one; a turn that runs is stopped. Its file appears with the first answer of a model.",
}, runNew)

// NewArgs are the arguments of xcsh.new.
type NewArgs struct {
	Folder
	Title         string `json:"title,omitempty" jsonschema:"Display name."`
	ParentSession string `json:"parentSession,omitempty" jsonschema:"The session this one continues: an id or a path, stored as it is."`
}

// NewResult says whether the folder has a fresh session now.
type NewResult struct {
	Created     bool        `json:"created"`
	CancelledBy string      `json:"cancelledBy,omitempty" jsonschema:"Who said no, when created is false."`
	Session     agent.State `json:"session"`
}

func runNew(ctx context.Context, env *Env, a NewArgs) (NewResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return NewResult{}, err
	}
	out, err := live.New(ctx, session.NewOptions{Title: a.Title, Parent: a.ParentSession})
	if err != nil {
		return NewResult{}, err
	}
	state, err := live.State()
	return NewResult{Created: out.Changed, CancelledBy: out.CancelledBy, Session: state}, err
}

// live returns the live session of the folder a call is about.
func (env *Env) live(ctx context.Context, f Folder) (*agent.Session, error) {
	cwd, err := env.cwd(ctx, f)
	if err != nil {
		return nil, err
	}
	return env.Sessions.Session(ctx, cwd)
}
