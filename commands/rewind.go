package commands

import (
	"context"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

var rewindFiles = New(Spec{
	Name: "xcsh.rewind", Title: "Rewind Files…", Flags: Palette | NeedsIdle | NeedsTrust, Input: InputEntry, Arg: "before",
	Doc: "Plan how to undo the session's changes to files since a prompt, or some of them; a second call with the plan's planToken carries out this plan. " +
		"Changes of the user stay, all files change or none, and redo undoes a rewind.",
	refusal: refusal{doing: "rewinding files"},
}, runRewind)

// RewindArgs are the arguments of xcsh.rewind.
type RewindArgs struct {
	Folder
	wire.RewindArgs
}

// targets returns the number of targets.
func (a RewindArgs) targets() int {
	return given(a.Before != nil, a.To != nil, a.Records != nil, a.ToolCallID != "", a.Hunks != nil, a.Paths != nil, a.Redo != nil)
}

// interactive reports whether a user called the command by name. Calls with arguments come from programs, which need the plan.
func (a RewindArgs) interactive() bool {
	return a.targets() == 0 && a.DryRun == nil && a.PlanToken == ""
}

func (a RewindArgs) check() error {
	wrong := func(field, text string) error {
		return fault.New(fault.InvalidArgument, "%s", text).With("field", field)
	}
	switch {
	case a.targets() > 1:
		return wrong("before", "xcsh.rewind takes one of before, to, records, toolCallId, hunks, paths and redo.")
	case a.Records != nil && len(a.Records) == 0:
		return wrong("records", "records must not be empty.")
	case a.Hunks != nil && len(a.Hunks) == 0:
		return wrong("hunks", "hunks must not be empty.")
	case a.Paths != nil && len(a.Paths) == 0:
		return wrong("paths", "paths must not be empty.")
	case a.Before != nil && *a.Before == "":
		return wrong("before", "before must be the ID of a prompt.")
	case a.To != nil && *a.To == "":
		return wrong("to", "to must be the ID of an entry.")
	case a.PlanToken != "" && a.targets() == 0:
		return wrong("before", "Pass planToken with the same arguments as for the plan.")
	case a.Conversation && a.targets() == 1 && a.Before == nil && a.To == nil:
		return wrong("conversation", "conversation requires before or to.")
	case !a.Conversation && (a.Summary != "" || a.Summarize || a.Instructions != ""):
		return wrong("conversation", "A summary requires conversation: true.")
	}
	return nil
}

func runRewind(ctx context.Context, env *Env, a RewindArgs) (r wire.RewindResult, err error) {
	live, err := env.live(ctx, a.Folder)
	if err != nil {
		return r, err
	}
	if err := a.resolve(env.resolver(), located{cwd: live.Cwd(), live: live}); err != nil {
		return r, err
	}
	interactive := a.interactive()
	if a.targets() == 0 {
		if a.Before, err = pickPrompt(ctx, env, live); err != nil {
			return r, err
		}
	}
	if interactive {
		return newRewindTalk(env, live).run(ctx, a.RewindArgs)
	}
	return live.Rewind(ctx, a.RewindArgs)
}

// resolve makes the paths of the arguments absolute.
func (a *RewindArgs) resolve(r resolver, of located) (err error) {
	a.Paths, a.Except, a.Hunks = slices.Clone(a.Paths), slices.Clone(a.Except), slices.Clone(a.Hunks)
	for _, list := range [][]string{a.Paths, a.Except} {
		for i := range list {
			if list[i], err = of.changedPath(r, list[i]); err != nil {
				return err
			}
		}
	}
	for i := range a.Hunks {
		if a.Hunks[i].Path, err = of.changedPath(r, a.Hunks[i].Path); err != nil {
			return err
		}
	}
	return nil
}

// pickPrompt asks for the prompt to go back to.
func pickPrompt(ctx context.Context, env *Env, live *agent.Session) (*string, error) {
	e, err := env.ask().entryFor(ctx, live, "Select a prompt to rewind files to", "before")
	if err != nil {
		return nil, err
	}
	return &e.id, nil
}
