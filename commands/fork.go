package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

var fork = New(Spec{
	Name: "xcsh.fork", Title: "Fork Session", Flags: Palette | NeedIdle | NeedPersistent, Arg: "source",
	Doc: "Copy a session into a new file and go on in the copy; the original stays as it is.",
}, runFork)

// ForkArgs are the arguments of xcsh.fork.
type ForkArgs struct {
	Subject
	EntryID  string `json:"entryId,omitempty" jsonschema:"Copy only the path to this entry. Absent: the whole session."`
	Position string `json:"position,omitempty" jsonschema:"before: up to the entry, which must be a prompt, whose text comes back to be edited. at: the entry included. Absent: at."`
}

// ForkResult says which session the folder is in now.
type ForkResult struct {
	Forked      bool        `json:"forked"`
	CancelledBy string      `json:"cancelledBy,omitempty" jsonschema:"Who said no, when forked is false."`
	Session     agent.State `json:"session"`
	EditorText  *string     `json:"editorText,omitempty" jsonschema:"The prompt that was forked before."`
}

func runFork(ctx context.Context, env *Env, a ForkArgs) (ForkResult, error) {
	at, err := position(a.Position)
	if err != nil {
		return ForkResult{}, err
	}
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return ForkResult{}, err
	}
	var r ForkResult
	var out agent.Outcome
	switch {
	case a.Source != "" && a.EntryID != "":
		return r, fault.New(fault.InvalidArgument, "entryId names an entry of the live session; leave source out.").With("field", "entryId")
	case a.Source != "":
		var path string
		if path, err = env.find(ctx, live.Cwd(), a.Source); err == nil {
			out, err = live.ForkFrom(ctx, path)
		}
	case a.EntryID != "":
		var text string
		text, out, err = live.ForkAt(ctx, a.EntryID, at)
		if at == session.Before && out.Changed {
			r.EditorText = &text
		}
	default:
		out, err = live.Fork(ctx)
	}
	if err != nil {
		return ForkResult{}, err
	}
	r.Forked, r.CancelledBy = out.Changed, out.CancelledBy
	r.Session, err = live.State()
	return r, err
}

func position(s string) (session.Position, error) {
	switch s {
	case "", string(session.AtIt):
		return session.AtIt, nil
	case string(session.Before):
		return session.Before, nil
	}
	return "", fault.New(fault.InvalidArgument, "position must be before or at, not %q.", s).With("field", "position")
}
