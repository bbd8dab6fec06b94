package commands

import (
	"context"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var move = New(Spec{
	Name: "xcsh.move", Title: "Move Session to Folder…", Flags: Palette | NeedsIdle | NeedsPersistent | NeedsTrust, Input: InputText, Arg: "to",
	Doc:     "Move a session, its file and its artifacts, to another directory. The live session continues there.",
	refusal: refusal{doing: "moving a session", inMemory: "Cannot move an in-memory session"},
}, runMove)

// MoveArgs are the arguments of xcsh.move.
type MoveArgs struct {
	Subject
	To string `json:"to" jsonschema:"The new directory of the session: an absolute path or a file: URI."`
}

// MoveResult describes the moved session.
type MoveResult struct {
	Session agent.State `json:"session" jsonschema:"The moved session."`
}

func runMove(ctx context.Context, env *Env, a MoveArgs) (r MoveResult, err error) {
	resolver := env.resolver()
	if a.To == "" {
		if a.To, err = resolver.askDirectory(ctx, a.Folder); err != nil {
			return r, err
		}
	}
	to, err := directory(a.To, "to")
	if err != nil {
		return r, err
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
	path, err := resolver.find(ctx, cwd, a.Source)
	if err != nil {
		return r, err
	}
	r.Session, err = env.Sessions.Relocate(ctx, cwd, path, to)
	return r, err
}

const otherPath = "Enter a path…"

// askDirectory asks for the session's new directory: another workspace folder, or a path that
// the user enters, absolute or relative to the folder of the call.
func (r resolver) askDirectory(ctx context.Context, from Folder) (string, error) {
	needed := need{question: "Select a directory for the session", nothing: "No directory selected", input: InputText, field: "to"}
	if r.ask.clientPicks {
		return "", needed.fault()
	}
	cwd, err := r.cwd(ctx, from)
	if err != nil {
		return "", err
	}
	var choices []string
	for _, folder := range r.folders() {
		if folder != cwd {
			choices = append(choices, folder)
		}
	}
	if len(choices) > 0 {
		to, err := choose(ctx, r.ask, needed, append(choices, otherPath), func(s string) string { return s })
		if err != nil || to != otherPath {
			return to, err
		}
	}
	path, err := r.ask.text(ctx, needed, "Enter a path.", "")
	if err != nil {
		return "", err
	}
	if path = strings.TrimSpace(path); path == "" {
		return "", fault.New(fault.Cancelled, "%s", needed.nothing)
	}
	return r.absolute(cwd, path, "to")
}
