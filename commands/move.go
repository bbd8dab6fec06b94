package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var move = New(Spec{
	Name: "xcsh.move", Title: "Move Session to Folder…", Flags: Palette | NeedIdle, Input: InputText, Arg: "to",
	Doc: "Make a session one of another directory: its file and artifacts move there. The live session goes on there.",
}, runMove)

// MoveArgs are the arguments of xcsh.move.
type MoveArgs struct {
	Subject
	To string `json:"to" jsonschema:"The directory that the session is to belong to: an absolute path or a file: URI."`
}

// MoveResult describes the session where it is now.
type MoveResult struct {
	Session agent.State `json:"session" jsonschema:"The moved session."`
}

func runMove(ctx context.Context, env *Env, a MoveArgs) (r MoveResult, err error) {
	if a.To == "" {
		return r, fault.New(fault.ArgumentNeeded, "To which directory?").With("input", InputText).With("field", "to")
	}
	to, err := env.cwd(Folder{Cwd: a.To})
	if err != nil {
		return r, fault.New(fault.InvalidArgument, "%q is not an absolute path or a file: URI.", a.To).With("field", "to")
	}
	if a.Source == "" {
		live, err := env.live(ctx, a.Folder)
		if err != nil {
			return r, err
		}
		r.Session, err = live.MoveTo(ctx, to)
		return r, err
	}
	cwd, err := env.cwd(a.Folder)
	if err != nil {
		return r, err
	}
	path, err := env.find(ctx, cwd, a.Source)
	if err != nil {
		return r, err
	}
	r.Session, err = env.Sessions.Relocate(ctx, cwd, path, to)
	return r, err
}
