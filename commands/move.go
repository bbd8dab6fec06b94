package commands

import (
	"context"
	"strings"

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
		if a.To, err = env.askDirectory(ctx, a.Folder); err != nil {
			return r, err
		}
	}
	to, err := env.cwd(ctx, Folder{Cwd: a.To})
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
	cwd, err := env.cwd(ctx, a.Folder)
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

const otherPath = "Write a path…"

// askDirectory asks to which directory a session is to go: to another workspace folder or
// to one whose path the person writes, absolute or seen from the folder of the call.
func (env *Env) askDirectory(ctx context.Context, from Folder) (string, error) {
	needed := need{question: "To which directory?", nothing: "No directory selected", input: InputText, field: "to"}
	if env.Pick {
		return "", needed.fault()
	}
	cwd, err := env.cwd(ctx, from)
	if err != nil {
		return "", err
	}
	var choices []string
	for _, folder := range env.Folders() {
		if folder != cwd {
			choices = append(choices, folder)
		}
	}
	if len(choices) > 0 {
		to, err := choose(ctx, env, needed, append(choices, otherPath), func(s string) string { return s })
		if err != nil || to != otherPath {
			return to, err
		}
	}
	path, err := env.askText(ctx, needed, "Write its path.", "")
	path = strings.TrimSpace(path)
	if err != nil || path == "" {
		return "", err
	}
	return env.absolute(cwd, path, "to")
}
