package commands

import (
	"context"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/attached"
)

var fork = New(Spec{
	Name: "xcsh.fork", Title: "Fork Session", Flags: Palette | NeedsIdle | NeedsPersistent | NeedsTrust, Arg: "source",
	Doc: "Copy a session to a new file and continue in the copy. The original does not change.",
	refusal: refusal{
		doing: "forking", always: true,
		inMemory: "Fork failed (session not persisted or cancelled)", inMemoryNamed: "--fork requires session persistence",
	},
}, runFork)

// ForkArgs are the arguments of xcsh.fork.
type ForkArgs struct {
	Subject
	EntryID  string `json:"entryId,omitempty" jsonschema:"Copy only the path to this entry. Default: the whole session."`
	Position string `json:"position,omitempty" jsonschema:"at: include the entry. before: stop before the entry, which must be a prompt; its text is returned for editing. Default: at."`
}

// ForkResult describes the folder's live session after the command.
type ForkResult struct {
	Forked      bool        `json:"forked"`
	CancelledBy string      `json:"cancelledBy,omitempty" jsonschema:"The hook that prevented it, if forked is false."`
	Session     agent.State `json:"session"`
	EditorText  *string     `json:"editorText,omitempty" jsonschema:"The text of the prompt at entryId, with position before."`
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
	if a.Source == "" && a.EntryID == "" {
		out, err = live.Fork(ctx)
	} else {
		var text string
		if text, out, err = forkOther(ctx, env.resolver(), live, a, at); at == session.Before && a.EntryID != "" && out.Changed {
			text = attached.WithoutInstruction(text)
			r.EditorText = &text
		}
	}
	if err != nil {
		return ForkResult{}, err
	}
	r.Forked, r.CancelledBy = out.Changed, out.CancelledBy
	r.Session, err = stateOf(ctx, live)
	return r, err
}

// forkOther copies another session, or the path to an entry of any session. The live session
// is copied from memory, even if it is named by its file.
func forkOther(ctx context.Context, r resolver, live *agent.Session, a ForkArgs, at session.Position) (text string, out agent.Outcome, err error) {
	if a.Source == "" {
		return live.ForkAt(ctx, a.EntryID, at)
	}
	t, err := r.resolve(ctx, lookup{cwd: live.Cwd(), name: a.Source, asks: true})
	if err != nil {
		return "", out, err
	}
	if a.EntryID == "" {
		out, err = live.ForkFrom(ctx, t.path)
		return "", out, err
	}
	if r.at(live.Cwd(), t.path).live == live {
		return live.ForkAt(ctx, a.EntryID, at)
	}
	return live.ForkPart(ctx, t.path, a.EntryID, at)
}

func (a ForkArgs) check() error {
	_, err := position(a.Position)
	return err
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
