package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
)

var newSession = New(Spec{
	Name: "xcsh.new", Title: "New Session", Flags: Palette | NeedsTrust, Arg: "title", Early: true,
	Doc: "Close the folder's session and start a new one. A running turn is stopped if the user agrees. The file is created with the model's first answer, or by the engine.",
}, runNew)

// NewArgs are the arguments of xcsh.new.
type NewArgs struct {
	Folder
	Leaving
	Title         string `json:"title,omitempty" jsonschema:"The title of the new session."`
	ParentSession string `json:"parentSession,omitempty" jsonschema:"The session that this one continues: an ID or a path, stored unchanged."`
}

// NewResult describes the folder's live session after the command.
type NewResult struct {
	Created     bool        `json:"created"`
	CancelledBy string      `json:"cancelledBy,omitempty" jsonschema:"The hook that prevented it, if created is false."`
	Session     agent.State `json:"session"`
}

func (a NewArgs) check() error { return a.checkLeaving() }

func runNew(ctx context.Context, env *Env, a NewArgs) (NewResult, error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return NewResult{}, err
	}
	if err := a.mayLeave(ctx, env, live, "starting another session"); err != nil {
		return NewResult{}, err
	}
	out, err := live.New(ctx, session.NewOptions{Title: a.Title, Parent: a.ParentSession})
	if err != nil {
		return NewResult{}, err
	}
	state, err := stateOf(ctx, live)
	return NewResult{Created: out.Changed, CancelledBy: out.CancelledBy, Session: state}, err
}
