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
	if !live.Persistent() {
		return ForkResult{}, forkInMemory(a.Source)
	}
	var r ForkResult
	var out agent.Outcome
	if a.Source == "" && a.EntryID == "" {
		out, err = live.Fork(ctx)
	} else {
		var text string
		if text, out, err = env.forkOther(ctx, live, a, at); at == session.Before && a.EntryID != "" && out.Changed {
			r.EditorText = &text
		}
	}
	if err != nil {
		return ForkResult{}, err
	}
	r.Forked, r.CancelledBy = out.Changed, out.CancelledBy
	r.Session, err = live.State()
	return r, err
}

// forkInMemory is the terminal programs' answer, before anything is looked for or anybody
// asked: one of the command, one of the start-up flag.
func forkInMemory(source string) error {
	if source == "" {
		return fault.New(fault.NotPersistent, "Fork failed (session not persisted or cancelled)")
	}
	return fault.New(fault.NotPersistent, "--fork requires session persistence")
}

// forkOther copies another session than the live one, or the path to an entry of any. The
// live session is copied as it is there, also when it is named by its file.
func (env *Env) forkOther(ctx context.Context, live *agent.Session, a ForkArgs, at session.Position) (text string, out agent.Outcome, err error) {
	if a.Source == "" {
		return live.ForkAt(ctx, a.EntryID, at)
	}
	path, err := env.findOrAsk(ctx, live.Cwd(), a.Source)
	if err != nil {
		return "", out, err
	}
	if a.EntryID == "" {
		out, err = live.ForkFrom(ctx, path)
		return "", out, err
	}
	if cwd, ok := env.Sessions.LiveIn(path); ok && cwd == live.Cwd() {
		return live.ForkAt(ctx, a.EntryID, at)
	}
	return live.ForkPart(ctx, path, a.EntryID, at)
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
